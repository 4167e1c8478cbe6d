/** One colour of a site made into those that can be read: as lines and text, and as a surface with text on it. */

/** @typedef {[number, number, number]} Rgb red, green and blue, 0 to 1 */

/**
 * The luminance an accent has at most in light and at least in dark, so that its contrast is 4.5:1 on the first two
 * surfaces of the panel. Text on it has the colour of the first, and so the same contrast.
 */
const LIGHT_MAXIMUM = 0.16;
const DARK_MINIMUM = 0.245;
/** Up to this one white on it has the contrast, and from a little less on black has it. */
const BLACK_TEXT_MINIMUM = 0.18;

/** As WCAG defines it, 0 to 1. @param {Rgb} rgb */
export function luminance(rgb) {
  const [red, green, blue] = rgb.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * The colour itself where it can be read, else as near to it as can be.
 * @param {Rgb} rgb
 * @param {number} end what it is mixed with: 0 for black, 1 for white
 * @param {(luminance: number) => boolean} fits
 */
function readable(rgb, end, fits) {
  for (let share = 0; !fits(luminance(rgb)); share += 1 / 256) {
    rgb = /** @type {Rgb} */ (rgb.map((part) => part + (end - part) * share));
  }
  return `color(srgb ${rgb.join(" ")})`;
}

/**
 * The names of custom properties, each with its colours in light and in dark.
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

/** A colour in such words that the browser writes its parts. @param {string} color */
export const colorMix = (color) => `color-mix(in srgb, ${color}, ${color})`;

/**
 * A colour as the browser writes a mixed one: `color(srgb 0.1 0.2 0.3)`. Null for anything else.
 * @param {string} text
 * @returns {Rgb | null}
 */
export function parseColor(text) {
  const [start, ...parts] = text.split(" ", 4);
  // A part may be `none`, and those of a wide gamut lie outside 0 to 1.
  return start === "color(srgb"
    ? /** @type {Rgb} */ (parts.map((part) => Math.min(Math.max(parseFloat(part) || 0, 0), 1)))
    : null;
}
