// The files of ../WebFiles as a part of the program. A test holds the list against the folder.
#include "CWebFiles.h"

// Clang has #embed in earlier C too.
#pragma clang diagnostic ignored "-Wc23-extensions"

#define FILE_OF(variable, name) {name, variable, sizeof variable}

static const unsigned char address_js[] = {
#embed "../WebFiles/address.js"
};
static const unsigned char backoff_js[] = {
#embed "../WebFiles/backoff.js"
};
static const unsigned char basemap_js[] = {
#embed "../WebFiles/basemap.js"
};
static const unsigned char buckets_js[] = {
#embed "../WebFiles/buckets.js"
};
static const unsigned char builder_js[] = {
#embed "../WebFiles/builder.js"
};
static const unsigned char bytes_js[] = {
#embed "../WebFiles/bytes.js"
};
static const unsigned char canvas_shapes_js[] = {
#embed "../WebFiles/canvas-shapes.js"
};
static const unsigned char catalogue_css[] = {
#embed "../WebFiles/catalogue.css"
};
static const unsigned char catalogue_html[] = {
#embed "../WebFiles/catalogue.html"
};
static const unsigned char catalogue_js[] = {
#embed "../WebFiles/catalogue.js"
};
static const unsigned char clause_editor_js[] = {
#embed "../WebFiles/clause-editor.js"
};
static const unsigned char clusters_js[] = {
#embed "../WebFiles/clusters.js"
};
static const unsigned char commands_js[] = {
#embed "../WebFiles/commands.js"
};
static const unsigned char countries_json[] = {
#embed "../WebFiles/countries.json"
};
static const unsigned char details_js[] = {
#embed "../WebFiles/details.js"
};
static const unsigned char distances_js[] = {
#embed "../WebFiles/distances.js"
};
static const unsigned char dom_js[] = {
#embed "../WebFiles/dom.js"
};
static const unsigned char drawing_js[] = {
#embed "../WebFiles/drawing.js"
};
static const unsigned char exact_js[] = {
#embed "../WebFiles/exact.js"
};
static const unsigned char explain_panel_js[] = {
#embed "../WebFiles/explain-panel.js"
};
static const unsigned char filter_js[] = {
#embed "../WebFiles/filter.js"
};
static const unsigned char frame_js[] = {
#embed "../WebFiles/frame.js"
};
static const unsigned char graticule_js[] = {
#embed "../WebFiles/graticule.js"
};
static const unsigned char grid_js[] = {
#embed "../WebFiles/grid.js"
};
static const unsigned char ground_js[] = {
#embed "../WebFiles/ground.js"
};
static const unsigned char icon_svg[] = {
#embed "../WebFiles/icon.svg"
};
static const unsigned char latest_js[] = {
#embed "../WebFiles/latest.js"
};
static const unsigned char leaflet_js[] = {
#embed "../WebFiles/leaflet.js"
};
static const unsigned char live_view_js[] = {
#embed "../WebFiles/live-view.js"
};
static const unsigned char live_js[] = {
#embed "../WebFiles/live.js"
};
static const unsigned char login_mark_js[] = {
#embed "../WebFiles/login-mark.js"
};
static const unsigned char login_css[] = {
#embed "../WebFiles/login.css"
};
static const unsigned char login_html[] = {
#embed "../WebFiles/login.html"
};
static const unsigned char login_js[] = {
#embed "../WebFiles/login.js"
};
static const unsigned char map_labels_js[] = {
#embed "../WebFiles/map-labels.js"
};
static const unsigned char map_view_js[] = {
#embed "../WebFiles/map-view.js"
};
static const unsigned char map_css[] = {
#embed "../WebFiles/map.css"
};
static const unsigned char map_html[] = {
#embed "../WebFiles/map.html"
};
static const unsigned char mark_drawing_js[] = {
#embed "../WebFiles/mark-drawing.js"
};
static const unsigned char mark_set_js[] = {
#embed "../WebFiles/mark-set.js"
};
static const unsigned char marks_layer_js[] = {
#embed "../WebFiles/marks-layer.js"
};
static const unsigned char model_js[] = {
#embed "../WebFiles/model.js"
};
static const unsigned char open_with_js[] = {
#embed "../WebFiles/open-with.js"
};
static const unsigned char operators_js[] = {
#embed "../WebFiles/operators.js"
};
static const unsigned char order_form_js[] = {
#embed "../WebFiles/order-form.js"
};
static const unsigned char page_css[] = {
#embed "../WebFiles/page.css"
};
static const unsigned char page_js[] = {
#embed "../WebFiles/page.js"
};
static const unsigned char phone_css[] = {
#embed "../WebFiles/phone.css"
};
static const unsigned char places_js[] = {
#embed "../WebFiles/places.js"
};
static const unsigned char places_json_gz[] = {
#embed "../WebFiles/places.json.gz"
};
static const unsigned char pmtiles_js[] = {
#embed "../WebFiles/pmtiles.js"
};
static const unsigned char query_css[] = {
#embed "../WebFiles/query.css"
};
static const unsigned char query_js[] = {
#embed "../WebFiles/query.js"
};
static const unsigned char rate_js[] = {
#embed "../WebFiles/rate.js"
};
static const unsigned char results_css[] = {
#embed "../WebFiles/results.css"
};
static const unsigned char results_js[] = {
#embed "../WebFiles/results.js"
};
static const unsigned char row_inputs_js[] = {
#embed "../WebFiles/row-inputs.js"
};
static const unsigned char selection_js[] = {
#embed "../WebFiles/selection.js"
};
static const unsigned char sentences_js[] = {
#embed "../WebFiles/sentences.js"
};
static const unsigned char service_js[] = {
#embed "../WebFiles/service.js"
};
static const unsigned char settings_js[] = {
#embed "../WebFiles/settings.js"
};
static const unsigned char shapes_layer_js[] = {
#embed "../WebFiles/shapes-layer.js"
};
static const unsigned char shell_js[] = {
#embed "../WebFiles/shell.js"
};
static const unsigned char sphere_js[] = {
#embed "../WebFiles/sphere.js"
};
static const unsigned char spread_js[] = {
#embed "../WebFiles/spread.js"
};
static const unsigned char suggestions_js[] = {
#embed "../WebFiles/suggestions.js"
};
static const unsigned char table_js[] = {
#embed "../WebFiles/table.js"
};
static const unsigned char text_js[] = {
#embed "../WebFiles/text.js"
};
static const unsigned char theme_switch_js[] = {
#embed "../WebFiles/theme-switch.js"
};
static const unsigned char theme_css[] = {
#embed "../WebFiles/theme.css"
};
static const unsigned char theme_js[] = {
#embed "../WebFiles/theme.js"
};
static const unsigned char tiles_js[] = {
#embed "../WebFiles/tiles.js"
};
static const unsigned char values_js[] = {
#embed "../WebFiles/values.js"
};
static const unsigned char vector_style_js[] = {
#embed "../WebFiles/vector-style.js"
};
static const unsigned char vector_tile_js[] = {
#embed "../WebFiles/vector-tile.js"
};
static const unsigned char watch_state_js[] = {
#embed "../WebFiles/watch-state.js"
};
static const unsigned char watch_js[] = {
#embed "../WebFiles/watch.js"
};

static const struct web_file files[] = {
    FILE_OF(address_js, "address.js"),
    FILE_OF(backoff_js, "backoff.js"),
    FILE_OF(basemap_js, "basemap.js"),
    FILE_OF(buckets_js, "buckets.js"),
    FILE_OF(builder_js, "builder.js"),
    FILE_OF(bytes_js, "bytes.js"),
    FILE_OF(canvas_shapes_js, "canvas-shapes.js"),
    FILE_OF(catalogue_css, "catalogue.css"),
    FILE_OF(catalogue_html, "catalogue.html"),
    FILE_OF(catalogue_js, "catalogue.js"),
    FILE_OF(clause_editor_js, "clause-editor.js"),
    FILE_OF(clusters_js, "clusters.js"),
    FILE_OF(commands_js, "commands.js"),
    FILE_OF(countries_json, "countries.json"),
    FILE_OF(details_js, "details.js"),
    FILE_OF(distances_js, "distances.js"),
    FILE_OF(dom_js, "dom.js"),
    FILE_OF(drawing_js, "drawing.js"),
    FILE_OF(exact_js, "exact.js"),
    FILE_OF(explain_panel_js, "explain-panel.js"),
    FILE_OF(filter_js, "filter.js"),
    FILE_OF(frame_js, "frame.js"),
    FILE_OF(graticule_js, "graticule.js"),
    FILE_OF(grid_js, "grid.js"),
    FILE_OF(ground_js, "ground.js"),
    FILE_OF(icon_svg, "icon.svg"),
    FILE_OF(latest_js, "latest.js"),
    FILE_OF(leaflet_js, "leaflet.js"),
    FILE_OF(live_view_js, "live-view.js"),
    FILE_OF(live_js, "live.js"),
    FILE_OF(login_mark_js, "login-mark.js"),
    FILE_OF(login_css, "login.css"),
    FILE_OF(login_html, "login.html"),
    FILE_OF(login_js, "login.js"),
    FILE_OF(map_labels_js, "map-labels.js"),
    FILE_OF(map_view_js, "map-view.js"),
    FILE_OF(map_css, "map.css"),
    FILE_OF(map_html, "map.html"),
    FILE_OF(mark_drawing_js, "mark-drawing.js"),
    FILE_OF(mark_set_js, "mark-set.js"),
    FILE_OF(marks_layer_js, "marks-layer.js"),
    FILE_OF(model_js, "model.js"),
    FILE_OF(open_with_js, "open-with.js"),
    FILE_OF(operators_js, "operators.js"),
    FILE_OF(order_form_js, "order-form.js"),
    FILE_OF(page_css, "page.css"),
    FILE_OF(page_js, "page.js"),
    FILE_OF(phone_css, "phone.css"),
    FILE_OF(places_js, "places.js"),
    FILE_OF(places_json_gz, "places.json.gz"),
    FILE_OF(pmtiles_js, "pmtiles.js"),
    FILE_OF(query_css, "query.css"),
    FILE_OF(query_js, "query.js"),
    FILE_OF(rate_js, "rate.js"),
    FILE_OF(results_css, "results.css"),
    FILE_OF(results_js, "results.js"),
    FILE_OF(row_inputs_js, "row-inputs.js"),
    FILE_OF(selection_js, "selection.js"),
    FILE_OF(sentences_js, "sentences.js"),
    FILE_OF(service_js, "service.js"),
    FILE_OF(settings_js, "settings.js"),
    FILE_OF(shapes_layer_js, "shapes-layer.js"),
    FILE_OF(shell_js, "shell.js"),
    FILE_OF(sphere_js, "sphere.js"),
    FILE_OF(spread_js, "spread.js"),
    FILE_OF(suggestions_js, "suggestions.js"),
    FILE_OF(table_js, "table.js"),
    FILE_OF(text_js, "text.js"),
    FILE_OF(theme_switch_js, "theme-switch.js"),
    FILE_OF(theme_css, "theme.css"),
    FILE_OF(theme_js, "theme.js"),
    FILE_OF(tiles_js, "tiles.js"),
    FILE_OF(values_js, "values.js"),
    FILE_OF(vector_style_js, "vector-style.js"),
    FILE_OF(vector_tile_js, "vector-tile.js"),
    FILE_OF(watch_state_js, "watch-state.js"),
    FILE_OF(watch_js, "watch.js"),
};

const struct web_file *web_files(void) { return files; }

size_t web_file_count(void) { return sizeof files / sizeof files[0]; }
