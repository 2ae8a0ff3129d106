#include "CSimdjson.h"

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include <simdjson.h>

namespace od = simdjson::ondemand;
using simdjson::error_code;

struct gb_json_parser {
    od::parser parser;
    std::vector<gb_json_node> nodes;
    std::vector<uint8_t> source;  // the text and simdjson's padding
    size_t length = 0;
};

namespace {

bool is_space(uint8_t c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether `text` is a number by RFC 8259, and whether it has neither fraction nor exponent.
bool number_grammar(std::string_view text, bool &integer) {
    size_t i = 0;
    const size_t end = text.size();
    auto digits = [&] {
        const size_t from = i;
        while (i < end && is_digit(text[i])) i++;
        return i > from;
    };
    integer = true;
    if (i < end && text[i] == '-') i++;
    if (i < end && text[i] == '0') {
        i++;
    } else if (!digits()) {
        return false;
    }
    if (i < end && text[i] == '.') {
        i++;
        integer = false;
        if (!digits()) return false;
    }
    if (i < end && (text[i] == 'e' || text[i] == 'E')) {
        i++;
        integer = false;
        if (i < end && (text[i] == '+' || text[i] == '-')) i++;
        if (!digits()) return false;
    }
    return i == end;
}

class Walk {
  public:
    explicit Walk(gb_json_parser &parser) : owner(parser), base(parser.source.data()) {}

    error_code value(od::value &value, int depth) {
        od::json_type type;
        if (auto error = value.type().get(type)) return error;
        switch (type) {
            case od::json_type::array: return array(value, depth);
            case od::json_type::object: return object(value, depth);
            default: return scalar(value, type, value.raw_json_token());
        }
    }

    // A scalar at the root and one inside a container have different types in simdjson, one face.
    template <typename Value>
    error_code scalar(Value &value, od::json_type type, std::string_view token) {
        while (!token.empty() && is_space(uint8_t(token.back()))) token.remove_suffix(1);
        const size_t index = open(gb_json_null, reinterpret_cast<const uint8_t *>(token.data()));
        owner.nodes[index].length = uint32_t(token.size());
        owner.nodes[index].next = uint32_t(index + 1);
        end = owner.nodes[index].start + token.size();
        switch (type) {
            case od::json_type::string: return string(value, owner.nodes[index]);
            case od::json_type::number: return number(value, token, owner.nodes[index]);
            case od::json_type::boolean: {
                bool truth;
                if (auto error = value.get_bool().get(truth)) return error;
                owner.nodes[index].kind = truth ? gb_json_true : gb_json_false;
                return simdjson::SUCCESS;
            }
            default:
                if (token != "null") return simdjson::N_ATOM_ERROR;
                return consumeNull(value);
        }
    }

    // Where a string begins that cannot be read; otherwise -1. simdjson has gone on to what follows.
    int64_t faulty_string() const { return fault; }

    bool only_space_follows() const {
        for (size_t i = end; i < owner.length; i++) {
            if (!is_space(base[i])) return false;
        }
        return true;
    }

  private:
    gb_json_parser &owner;
    const uint8_t *base;
    size_t end = 0;  // source offset just behind the last token seen
    int64_t fault = -1;

    size_t open(gb_json_kind kind, const uint8_t *at) {
        gb_json_node node{};
        node.kind = kind;
        node.start = uint32_t(at - base);
        owner.nodes.push_back(node);
        return owner.nodes.size() - 1;
    }

    void close(size_t index, uint32_t count) {
        while (is_space(base[end])) end++;
        end++;  // the closing bracket
        gb_json_node &node = owner.nodes[index];
        node.length = uint32_t(end - node.start);
        node.count = count;
        node.next = uint32_t(owner.nodes.size());
    }

    template <typename Value>
    error_code string(Value &value, gb_json_node &node) {
        std::string_view text;
        if (auto error = value.get_string().get(text)) {
            fault = node.start;
            return error;
        }
        node.kind = gb_json_string;
        node.count = uint32_t(text.size());
        node.payload.string = reinterpret_cast<const uint8_t *>(text.data());
        return simdjson::SUCCESS;
    }

    template <typename Value>
    error_code number(Value &value, std::string_view token, gb_json_node &node) {
        // Up to so many characters have digits for 64 bits. Of more, simdjson 3.0 makes wrong numbers now
        // and then.
        if (token.size() > 19) return long_number(token, node);
        size_t digits = token.front() == '-' ? 1 : 0;
        while (digits < token.size() && is_digit(token[digits])) digits++;
        if (digits < token.size()) {
            if (value.get_double().get(node.payload.number)) return long_number(token, node);
            node.kind = gb_json_double;
        } else {
            if (value.get_int64().get(node.payload.integer)) return long_number(token, node);
            node.kind = gb_json_int64;
        }
        return simdjson::SUCCESS;
    }

    // Also a number beyond binary64's range, or what is none at all.
    error_code long_number(std::string_view token, gb_json_node &node) {
        bool integer;
        if (!number_grammar(token, integer)) return simdjson::NUMBER_ERROR;
        const char *first = token.data(), *last = first + token.size();
        if (integer) {
            if (std::from_chars(first, last, node.payload.integer).ec == std::errc()) {
                node.kind = gb_json_int64;
                return simdjson::SUCCESS;
            }
            if (token.front() != '-' &&
                std::from_chars(first, last, node.payload.unsigned_integer).ec == std::errc()) {
                node.kind = gb_json_uint64;
                return simdjson::SUCCESS;
            }
        }
        double number = 0;
        if (std::from_chars(first, last, number).ec == std::errc::result_out_of_range) {
            number = std::strtod(std::string(token).c_str(), nullptr);  // tells 0 from infinity
        }
        const bool huge = number > 1.7976931348623157e308 || number < -1.7976931348623157e308;
        node.kind = huge ? gb_json_huge : gb_json_double;
        node.payload.number = number;
        return simdjson::SUCCESS;
    }

    template <typename Value>
    error_code consumeNull(Value &value) {
        bool null;
        if (auto error = simdjson::simdjson_result<bool>(value.is_null()).get(null)) return error;
        return null ? simdjson::SUCCESS : simdjson::N_ATOM_ERROR;
    }

    error_code array(od::value &value, int depth) {
        if (depth >= gb_json_maximum_depth) return simdjson::DEPTH_ERROR;
        const size_t index = open(gb_json_array, token_start(value));
        end = owner.nodes[index].start + 1;
        od::array elements;
        if (auto error = value.get_array().get(elements)) return error;
        uint32_t count = 0;
        for (auto element : elements) {
            od::value inner;
            if (auto error = element.get(inner)) return error;
            if (auto error = this->value(inner, depth + 1)) return error;
            count++;
        }
        close(index, count);
        return simdjson::SUCCESS;
    }

    error_code object(od::value &value, int depth) {
        if (depth >= gb_json_maximum_depth) return simdjson::DEPTH_ERROR;
        const size_t index = open(gb_json_object, token_start(value));
        end = owner.nodes[index].start + 1;
        od::object members;
        if (auto error = value.get_object().get(members)) return error;
        uint32_t count = 0;
        for (auto member : members) {
            od::field field;
            if (auto error = std::move(member).get(field)) return error;
            const uint8_t *quote = reinterpret_cast<const uint8_t *>(field.key().raw()) - 1;
            std::string_view name;
            if (auto error = field.unescaped_key().get(name)) {
                fault = quote - base;
                return error;
            }
            const size_t key = open(gb_json_string, quote);
            owner.nodes[key].count = uint32_t(name.size());
            owner.nodes[key].payload.string = reinterpret_cast<const uint8_t *>(name.data());
            owner.nodes[key].next = uint32_t(key + 1);
            od::value inner = field.value();
            if (auto error = this->value(inner, depth + 1)) return error;
            count++;
        }
        close(index, count);
        return simdjson::SUCCESS;
    }

    static const uint8_t *token_start(od::value &value) {
        return reinterpret_cast<const uint8_t *>(value.raw_json_token().data());
    }
};

error_code walk_document(Walk &walk, od::document &document) {
    od::json_type type;
    if (auto error = document.type().get(type)) return error;
    if (type == od::json_type::array || type == od::json_type::object) {
        od::value root;
        if (auto error = document.get_value().get(root)) return error;
        if (auto error = walk.value(root, 0)) return error;
    } else {
        std::string_view token;
        if (auto error = document.raw_json_token().get(token)) return error;
        if (auto error = walk.scalar(document, type, token)) return error;
    }
    return walk.only_space_follows() ? simdjson::SUCCESS : simdjson::TRAILING_CONTENT;
}

gb_json_error outcome(error_code error) {
    switch (error) {
        case simdjson::SUCCESS: return gb_json_ok;
        case simdjson::UTF8_ERROR: return gb_json_utf8;
        case simdjson::DEPTH_ERROR: return gb_json_depth;
        case simdjson::MEMALLOC: return gb_json_memory;
        default: return gb_json_syntax;
    }
}

}  // namespace

gb_json_parser *gb_json_parser_create(void) { return new (std::nothrow) gb_json_parser(); }

void gb_json_parser_destroy(gb_json_parser *parser) { delete parser; }

gb_json_error gb_json_parse(
    gb_json_parser *parser, const uint8_t *bytes, size_t length, int64_t *error_offset) {
    *error_offset = -1;
    parser->nodes.clear();
    if (length >= 3 && std::memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        *error_offset = 0;  // RFC 8259 section 8.1: no byte order mark
        return gb_json_syntax;
    }
    if (parser->source.size() < length + simdjson::SIMDJSON_PADDING) {
        parser->source.resize(length + length / 2 + simdjson::SIMDJSON_PADDING);
    }
    if (length > 0) std::memcpy(parser->source.data(), bytes, length);
    std::memset(parser->source.data() + length, ' ', simdjson::SIMDJSON_PADDING);
    parser->length = length;
    od::document document;
    error_code error =
        parser->parser.iterate(parser->source.data(), length, parser->source.size()).get(document);
    if (error) return outcome(error);
    Walk walk(*parser);
    error = walk_document(walk, document);
    if (error && walk.faulty_string() >= 0) {
        *error_offset = walk.faulty_string();
    } else if (error) {
        const char *at = nullptr;
        if (!document.current_location().get(at) && at != nullptr) {
            const int64_t offset = reinterpret_cast<const uint8_t *>(at) - parser->source.data();
            if (offset >= 0 && offset <= int64_t(length)) *error_offset = offset;
        }
    }
    return outcome(error);
}

const gb_json_node *gb_json_nodes(const gb_json_parser *parser) { return parser->nodes.data(); }

const uint8_t *gb_json_source(const gb_json_parser *parser) { return parser->source.data(); }

size_t gb_json_buffer_bytes(const gb_json_parser *parser) {
    // simdjson has an index for each byte of its capacity, and room for the strings.
    const size_t theirs = parser->parser.capacity() * (sizeof(uint32_t) + 2);
    return parser->nodes.capacity() * sizeof(gb_json_node) + parser->source.capacity() + theirs;
}

size_t gb_json_minify(const uint8_t *bytes, size_t length, uint8_t *destination) {
    size_t written = 0;
    const auto error = simdjson::minify(
        reinterpret_cast<const char *>(bytes), length, reinterpret_cast<char *>(destination),
        written);
    return error ? 0 : written;
}
