/** The events of an answer, the same for every transport. */

/**
 * An event of stream protocol v2, or `reconnecting`, which the client adds. It comes from outside, so every
 * field must be checked.
 * @typedef {object} StreamEvent
 * @property {string} type
 * @property {string} [messageId]
 * @property {{ threadId?: string }} [messageMetadata]
 * @property {string} [delta]
 * @property {string} [url]
 * @property {string} [title]
 * @property {string} [toolCallId]
 * @property {unknown} [input]
 * @property {unknown} [output]
 * @property {Record<string, unknown>} [data]
 * @property {string} [finishReason] of a `finish` that ends too early
 * @property {string} [errorText]
 * @property {number} [status] as HTTP has it; 0 if there was no response
 * @property {number} [retryAfter] seconds
 */

/** Whether an answer ends with this event. @param {StreamEvent} event */
export const isLast = ({ type }) => type === "finish" || type === "error";
