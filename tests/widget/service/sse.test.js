import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventStream } from "../../../static/widget/src/service/sse.js";

const bytes = (text) => new TextEncoder().encode(text);
const TEXT = [
  ": keep-alive\r\n\r\n",
  'event: message\r\nid: 7\r\ndata: {"type":"start","messageId":"m"}\r\n\r\n',
  'data: {"type":"text-delta","delta":"Für 日本語 😀"}\n\n',
  'data:{"type":"a",\r\ndata: "b":\ndata:1}\r\n\r\n',
  "retry: 10\r\r",
  'data: {"type":"c"}\r\rdatabase: 1\n\n',
  'data: {"type":"text-delta","delta":"a\\nb\\u2028"}\n\n\n\n',
  'data: {"type":"finish"}\n\ndata: [DONE]\n\n',
  'data: {"type":"half"',
].join("");
const EVENTS = [
  { type: "start", messageId: "m" },
  { type: "text-delta", delta: "Für 日本語 😀" },
  { type: "a", b: 1 },
  { type: "c" },
  { type: "text-delta", delta: "a\nb\u2028" },
  { type: "finish" },
];

/** The events of a stream that arrives cut at these places. */
function read(text, cuts) {
  const whole = bytes(text);
  const stream = new EventStream();
  return [0, ...cuts].flatMap((from, i) => stream.push(whole.subarray(from, cuts[i] ?? whole.length)));
}

describe("an event stream", () => {
  it("is read in one piece", () => assert.deepEqual(read(TEXT, []), EVENTS));

  it("is read byte by byte", () => {
    assert.deepEqual(read(TEXT, [...bytes(TEXT).keys()].slice(1)), EVENTS);
  });

  it("is read whatever the place of a single cut", () => {
    for (let at = 0; at <= bytes(TEXT).length; at++) assert.deepEqual(read(TEXT, [at]), EVENTS, `cut at ${at}`);
  });

  it("is read in pieces of every size", () => {
    for (let size = 2; size < 40; size++) {
      const cuts = Array.from({ length: Math.floor(bytes(TEXT).length / size) }, (_, i) => (i + 1) * size);
      assert.deepEqual(read(TEXT, cuts), EVENTS, `pieces of ${size}`);
    }
  });

  it("tells an event as soon as it is whole", () => {
    const stream = new EventStream();
    assert.deepEqual(stream.push(bytes('data: {"type":"x"}\n')), []);
    assert.deepEqual(stream.push(bytes("\n")), [{ type: "x" }]);
  });

  it("is no such stream when its data is no JSON", () => {
    assert.throws(() => new EventStream().push(bytes("data: <html>\n\n")), SyntaxError);
  });
});
