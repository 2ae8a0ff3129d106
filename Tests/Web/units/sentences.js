import { errorSentence, explanation } from "/map/sentences.js";
import { equal, holds, test } from "./check.js";

const circle = { accessPath: "circle", field: "location", estimatedCandidates: 22, estimatedDocuments: 22, estimatedMicroseconds: 42, filters: [],
  documentFilter: { type: "eq", field: "lighted", value: true }, order: "sorted", alternatives: [{ accessPath: "scan", estimatedMicroseconds: 4250 }],
  summary: ["the points of location within the radius, about 22 candidates", "of those, by reading about 22 documents: ( lighted = true )"], wouldHelp: ["lighted"],
  analyze: { candidatesVisited: 41, documentsRead: 1, matches: 37, objects: 20, planningMicroseconds: 655, executionMicroseconds: 1533 } };

test("An explanation is sentences", () => {
  equal(explanation(circle), [
    "It takes the points of location within the radius from the spatial index.",
    "That is about 22 candidates.",
    "It reads about 22 documents to test lighted = true.",
    "Then it sorts what matches and keeps the best of a page.",
    "It visited 41 candidates and read 1 document; 37 matched, 20 came back.",
    "Planning took 655 µs, the search 1.5 ms.",
    "It was expected to cost 42 µs; dearer were scan (4.3 ms).",
    "A column for lighted would help; the service builds it when queries read many documents.",
  ]);
});

test("Conditions on columns are named, and a document is only read where there is something to test", () => {
  const sentences = explanation({ ...circle, filters: [{ type: "eq" }], documentFilter: { type: "all" }, wouldHelp: ["_id"], analyze: undefined, alternatives: [], order: "as found",
    summary: ["the points", "of those, by points and columns: ( kind = \"a\" ) AND ( b = 1 )"] });
  equal(sentences.slice(1), ['Of about 22 candidates it keeps those with ( kind = "a" ) AND ( b = 1 ), by points and columns.', "Nothing has to be sorted, so it stops when the page is full."]);
});

test("An access path that the page does not know is told in the service's words", () => {
  equal(explanation({ ...circle, accessPath: "union", summary: ["together: the ids; the points"] })[0], "It takes together: the ids; the points.");
  holds(explanation({ accessPath: "spiral", estimatedCandidates: 1, order: "none" })[0].includes("spiral"), "a new path");
});

test("An error is a sentence with its place", () => {
  equal(errorSentence({ message: "radius must be greater than 0", path: "bucketQuery.clause.radius" }), "Radius must be greater than 0. (bucketQuery.clause.radius)");
  equal(errorSentence({ message: "radius must be greater than 0", path: "bucketQuery.clause.radius" }, true), "Radius must be greater than 0.");
  holds(errorSentence({ message: "too slow", errorCode: "QUERY_TIMEOUT" }).startsWith("Too slow. The query took"), "advice");
});
