import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TypingPace } from "../../../static/widget/src/transcript/typing-pace.js";

describe("the pace of a text", () => {
  it("spreads a burst over frames", () => {
    const pace = new TypingPace();
    const shown = [0, 16, 32, 120, 200, 240].map((now) => pace.visibleLength(1_000, 0, now));
    assert.deepEqual([shown[0], shown.at(-1)], [0, 1_000]);
    for (let i = 1; i < shown.length; i++) assert.ok(shown[i] > shown[i - 1]);
    assert.ok(shown[1] < 100);
  });

  it("is never more than 300 ms behind, and never goes back", () => {
    const pace = new TypingPace();
    let [length, shown, seed] = [0, 0, 7];
    const arrived = [];
    for (let now = 0; now < 5_000; now += 16) {
      seed = (seed * 48_271) % 2_147_483_647;
      if (seed % 3 === 0) arrived.push([now, (length += seed % 90)]);
      const next = pace.visibleLength(length, now, now);
      assert.ok(next >= shown && next <= length);
      const due = arrived.findLast(([at]) => at <= now - 300)?.[1] ?? 0;
      assert.ok(next >= due, `${next} of ${due} at ${now}`);
      shown = next;
    }
    assert.equal(pace.visibleLength(length, 5_300, 5_300), length);
  });

  it("catches up in a frame that comes late", () => {
    const pace = new TypingPace();
    assert.equal(pace.visibleLength(500, 1_000, 9_000), 500);
  });

  it("holds nothing back when it is told so, and begins anew with another text", () => {
    const pace = new TypingPace();
    assert.equal(pace.visibleLength(300, 0, 0), 0);
    assert.equal(pace.showAll(300), 300);
    assert.equal(pace.visibleLength(300, 16, 16), 300);
    assert.equal(pace.visibleLength(100, 20, 20), 0);
    assert.equal(pace.visibleLength(100, 20, 260), 100);
  });
});
