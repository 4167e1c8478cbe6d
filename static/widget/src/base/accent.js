/** Makes readable colours from the accent of a site: for text and lines, and for surfaces with text on them. */

/** @typedef {[number, number, number]} Rgb red, green and blue, 0 to 1 */

/**
 * The limits of an accent's luminance, in light and in dark themes. Within them its contrast is 4.5:1 on the first two
 * surfaces of the panel. Text on the accent has the colour of the first surface, and so the same contrast.
 */
const LIGHT_MAXIMUM = 0.16;
const DARK_MINIMUM = 0.245;
/** A colour above this luminance gets black text, any other one white text. */
const BLACK_TEXT_MINIMUM = 0.18;

/** Relative luminance as WCAG defines it, 0 to 1. @param {Rgb} rgb */
export function luminance(rgb) {
  const [red, green, blue] = rgb.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * The nearest readable colour, which may be the colour itself.
 * @param {Rgb} rgb
 * @param {number} end the colour to mix in: 0 for black, 1 for white
 * @param {(luminance: number) => boolean} fits
 */
function readable(rgb, end, fits) {
  for (let share = 0; !fits(luminance(rgb)); share += 1 / 256) {
    rgb = /** @type {Rgb} */ (rgb.map((part) => part + (end - part) * share));
  }
  return `color(srgb ${rgb.join(" ")})`;
}

/**
 * Custom properties by name, each with its colours for the light and the dark theme.
 * @param {Rgb} rgb
 * @returns {Record<string, [light: string, dark: string]>}
 */
export function accentColors(rgb) {
  const fill = readable(rgb, 0, () => true);
  const on = luminance(rgb) > BLACK_TEXT_MINIMUM ? "#000" : "#fff";
  return {
    fill: [fill, fill],
    "on-fill": [on, on],
    accent: [readable(rgb, 0, (light) => light <= LIGHT_MAXIMUM), readable(rgb, 1, (light) => light >= DARK_MINIMUM)],
    "on-accent": ["#fff", "#17181b"],
  };
}

/** A colour in a form for which the browser computes red, green and blue. @param {string} color */
export const colorMix = (color) => `color-mix(in srgb, ${color}, ${color})`;

/**
 * Parses the form that a browser gives a mixed colour, `color(srgb 0.1 0.2 0.3)`. Null for any other text.
 * @param {string} text
 * @returns {Rgb | null}
 */
export function parseColor(text) {
  const [start, ...parts] = text.split(" ", 4);
  // A part may be `none`. Colours of a wide gamut have parts outside 0 to 1.
  return start === "color(srgb"
    ? /** @type {Rgb} */ (parts.map((part) => Math.min(Math.max(parseFloat(part) || 0, 0), 1)))
    : null;
}
