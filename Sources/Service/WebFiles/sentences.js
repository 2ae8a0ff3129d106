// What `bucket.explain` answers, in sentences; and errors of the service.
import { count, counted, duration } from "./text.js";

const time = (microseconds) => (microseconds < 1000 ? `${Math.round(microseconds)} µs` : duration(microseconds / 1000));

function path({ accessPath, field, summary }) {
  const of = field ? ` of ${field}` : "";
  switch (accessPath) {
    case "nothing": return "No object can match, so nothing is searched.";
    case "ids": return "It looks the objects up by their ids.";
    case "box": return `It takes the points${of} in the box from the spatial index.`;
    case "polygon": return `It takes the points${of} in the polygon from the spatial index.`;
    case "circle": return `It takes the points${of} within the radius from the spatial index.`;
    case "corridor": return `It takes the points${of} along the route from the spatial index.`;
    case "nearest": return `It walks through the points${of} in the spatial index, nearest first.`;
    case "lookup": return `It takes a range of the sorted column${of}.`;
    case "ordered": return `It goes through the objects in the order of the column${of}.`;
    case "scan": return "It goes through all objects in the order of creation.";
    default: return summary?.[0] ? `It takes ${summary[0]}.` : `It uses the access path ${accessPath}.`;
  }
}

function order({ order: kind, estimatedDocuments }) {
  switch (kind) {
    case "as found": return "Nothing has to be sorted, so it stops when the page is full.";
    case "sorted": return "Then it sorts what matches and keeps the best of a page.";
    case "sorted by documents":
      return `Then it reads about ${counted(estimatedDocuments, "document")} to sort by, and keeps the best of a page.`;
    default: return null;
  }
}

/** The clause that a line of the service's summary names behind a colon, without the outer parentheses. */
function clauseIn(summary, beginning) {
  const line = summary.find((text) => text.startsWith(beginning));
  const text = line?.slice(line.indexOf(": ") + 2);
  return text?.replace(/^\( ([^()]*) \)$/, "$1");
}

function tests({ estimatedCandidates, estimatedDocuments, filters = [], documentFilter, summary = [] }) {
  const candidates = counted(estimatedCandidates, "candidate");
  const columns = clauseIn(summary, "of those, by points and columns") ?? counted(filters.length, "condition");
  const rest = clauseIn(summary, "of those, by reading") ?? "the rest of the clause";
  const isRead = documentFilter && documentFilter.type !== "all";
  return [
    filters.length > 0 ? `Of about ${candidates} it keeps those with ${columns}, by points and columns.`
      : `That is about ${candidates}.`,
    isRead ? `It reads about ${counted(estimatedDocuments, "document")} to test ${rest}.` : null,
  ];
}

function visited(analyze) {
  if (!analyze) return [];
  const { candidatesVisited, documentsRead, matches, objects, planningMicroseconds, executionMicroseconds } = analyze;
  return [
    `It visited ${counted(candidatesVisited, "candidate")} and read ${counted(documentsRead, "document")}; `
      + `${count(matches)} matched, ${count(objects)} came back.`,
    `Planning took ${time(planningMicroseconds)}, the search ${time(executionMicroseconds)}.`,
  ];
}

function rejected({ alternatives = [], estimatedMicroseconds }) {
  if (alternatives.length === 0) return [];
  const others = alternatives.map((other) => `${other.accessPath} (${time(other.estimatedMicroseconds)})`);
  return [`It was expected to cost ${time(estimatedMicroseconds)}; dearer were ${others.join(", ")}.`];
}

function help({ wouldHelp = [] }) {
  const fields = wouldHelp.filter((field) => field !== "_id");
  if (fields.length === 0) return [];
  return [`A column for ${fields.join(", ")} would help; the service builds it when queries read many documents.`];
}

/** How a query ran, or would run, one sentence each. */
export function explanation(explained) {
  return [path(explained), ...tests(explained), order(explained), ...visited(explained.analyze),
    ...rejected(explained), ...help(explained)].filter(Boolean);
}

const ADVICE = {
  TOO_MANY_REQUESTS: "The service is busy; try again in a moment.",
  QUERY_TIMEOUT: "The query took longer than the service allows; fewer objects or another order may help.",
  QUOTA_EXCEEDED: "Delete something, or ask for a larger quota.",
  OPERATION_NOT_ALLOWED: "Your token does not permit that.",
};

/**
 * An error of the service for people: its message as a sentence, its path unless it is shown at its place, and advice
 * where there is some.
 */
export function errorSentence({ message, errorCode, path }, isAtPlace = false) {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  const sentence = /[.!?]$/.test(text) ? text : `${text}.`;
  return [sentence, path && !isAtPlace ? `(${path})` : "", ADVICE[errorCode] ?? ""].filter(Boolean).join(" ");
}
