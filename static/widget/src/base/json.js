/**
 * A value as JSON, also on pages where an old library has given arrays a `toJSON`, which would make strings of them.
 * @param {unknown} value
 * @returns {string}
 */
export function json(value) {
  const theirs = Object.getOwnPropertyDescriptor(Array.prototype, "toJSON");
  Reflect.deleteProperty(Array.prototype, "toJSON");
  try {
    return JSON.stringify(value);
  } finally {
    if (theirs) Object.defineProperty(Array.prototype, "toJSON", theirs);
  }
}
