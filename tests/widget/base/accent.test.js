import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accentColors, luminance, parseColor } from "../../../static/widget/src/base/accent.js";

/** @typedef {import("../../../static/widget/src/base/accent.js").Rgb} Rgb */

/** The first two surfaces of the panel. */
const SURFACES = { light: ["#ffffff", "#f5f5f7"], dark: ["#17181b", "#202126"] };

/** @param {string} css @returns {Rgb} */
function rgb(css) {
  const long = css.length === 4 ? css.replace(/[^#]/g, "$&$&") : css;
  const parts =
    css[0] === "#"
      ? [1, 3, 5].map((at) => parseInt(long.slice(at, at + 2), 16) / 255)
      : css.slice("color(srgb ".length, -1).split(" ").map(Number);
  return /** @type {Rgb} */ (parts);
}

/** @param {string} one @param {string} other */
function contrast(one, other) {
  const [low, high] = [luminance(rgb(one)), luminance(rgb(other))].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** Colours from all over the cube. @returns {Generator<Rgb>} */
function* colours() {
  const steps = [0, 0.2, 0.4, 0.6, 0.8, 1];
  for (const red of steps) for (const green of steps) for (const blue of steps) yield [red, green, blue];
}

describe("an accent", () => {
  it("can be read, and so can the text on it, whatever the colour was", () => {
    for (const colour of colours()) {
      const made = accentColors(colour);
      for (const [at, surfaces] of [SURFACES.light, SURFACES.dark].entries()) {
        const accent = made.accent[at];
        for (const other of [...surfaces, made["on-accent"][at]]) {
          assert.ok(contrast(accent, other) >= 4.5, `${accent} on ${other}, from ${colour}`);
        }
      }
    }
  });

  it("fills surfaces as it is, with text on it that can be read", () => {
    for (const colour of [...colours(), rgb("#ffd400"), rgb("#eeeeee")]) {
      const { fill, "on-fill": on } = accentColors(colour);
      assert.deepEqual(fill.map(rgb), [colour, colour]);
      assert.ok(contrast(fill[0], on[0]) >= 4.5, `${on[0]} on ${fill[0]}`);
      assert.equal(on[0], on[1]);
    }
    assert.equal(accentColors(rgb("#ffd400"))["on-fill"][0], "#000");
    assert.equal(accentColors(rgb("#0a6b5d"))["on-fill"][0], "#fff");
  });

  it("stays as it is where it can be read", () => {
    assert.deepEqual(rgb(accentColors(rgb("#0a6b5d")).accent[0]), rgb("#0a6b5d"));
    assert.deepEqual(rgb(accentColors(rgb("#a9bcff")).accent[1]), rgb("#a9bcff"));
  });

  it("changes no more than it must", () => {
    const [light, dark] = accentColors(rgb("#ff8800")).accent;
    assert.ok(contrast(light, SURFACES.light[1]) < 4.8);
    assert.deepEqual(rgb(dark), rgb("#ff8800"));
  });

  it("is taken from what the browser makes of any colour", () => {
    assert.deepEqual(parseColor("color(srgb 0.25 0.5 1)"), [0.25, 0.5, 1]);
    assert.deepEqual(parseColor("color(srgb -0.1 1.2 none / 0.5)"), [0, 1, 0]);
    assert.deepEqual(parseColor("color(srgb 1e-7 0 0)"), [1e-7, 0, 0]);
    assert.equal(parseColor("rgb(0, 0, 0)"), null);
    assert.equal(parseColor(""), null);
  });
});
