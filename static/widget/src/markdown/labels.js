/** The labels of the panel. It gives them to this script, which is one of its own. */

/** @typedef {typeof import("../base/labels.js").labels} Labels */

export const labels = /** @type {Labels} */ ({});
