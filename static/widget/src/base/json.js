/**
 * A value as JSON. Some old libraries give arrays a `toJSON` that makes strings of them: here it has no effect.
 * @param {unknown} value
 * @returns {string}
 */
export function json(value) {
  const method = Object.getOwnPropertyDescriptor(Array.prototype, "toJSON");
  Reflect.deleteProperty(Array.prototype, "toJSON");
  try {
    return JSON.stringify(value);
  } finally {
    if (method) Object.defineProperty(Array.prototype, "toJSON", method);
  }
}
