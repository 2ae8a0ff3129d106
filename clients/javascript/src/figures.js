// Aggregations: what `aggregate` takes, by the names of the results.

/** How many objects. */
export const count = () => ({ type: "COUNT" });

/** The values of a field, and how many objects have each: the most frequent ones, 50 or as many as `limit` says. */
export const group = (field, limit) => ({ type: "GROUP", field, limit });

/** The least, the greatest, the sum and the mean of the numbers of a field. */
export const min = (field) => ({ type: "MIN", field });
export const max = (field) => ({ type: "MAX", field });
export const sum = (field) => ({ type: "SUM", field });
export const avg = (field) => ({ type: "AVG", field });
