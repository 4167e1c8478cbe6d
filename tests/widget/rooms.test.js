/** Imports between the folders of the browser code point one way. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const STATIC = fileURLToPath(new URL("../../static/", import.meta.url));
const MAX_MODULES = 15;

/** Folders from the bottom up. A module imports from its own folder and from folders of earlier lines. */
const LAYERS = {
  "widget/src": [
    ["base"],
    ["service", "markdown"],
    ["conversation"],
    ["transcript", "composer"],
    ["menu"],
    ["panel"],
    ["person"],
    ["launcher"],
    ["search"],
  ],
  "site/js": [["base"], ["page", "search", "playground", "gallery"]],
};

/** The modules of a folder, by their rooms. */
async function modulesOf(root) {
  const entries = await readdir(join(STATIC, root), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, path, name }) => join(parentPath ?? path, name));
}

const roomOf = (root, file) => relative(join(STATIC, root), file).split(sep)[0];

/** Paths in `import … from "…"` and `import("…")`, types included. */
const importsOf = (source) => Array.from(source.matchAll(/(?:from |import |import\()"(\.[^"]+)"/g), ([, path]) => path);

for (const [root, layers] of Object.entries(LAYERS)) {
  describe(root, async () => {
    const files = await modulesOf(root);
    const levels = new Map(layers.flatMap((rooms, level) => rooms.map((room) => [room, level])));

    it("has no folder without a place, and none with more than fifteen modules", () => {
      const counts = {};
      for (const file of files.filter((name) => name.endsWith(".js"))) {
        const room = roomOf(root, file);
        counts[room] = (counts[room] ?? 0) + 1;
      }
      assert.deepEqual(Object.keys(counts).sort(), [...levels.keys()].sort());
      assert.ok(Math.max(...Object.values(counts)) <= MAX_MODULES, JSON.stringify(counts));
    });

    it("imports downwards only", async () => {
      const upward = [];
      for (const file of files.filter((name) => name.endsWith(".js"))) {
        for (const path of importsOf(await readFile(file, "utf8"))) {
          const target = join(file, "..", path);
          if (!target.startsWith(join(STATIC, root))) continue; // the gallery knows the widget's types
          const [from, to] = [roomOf(root, file), roomOf(root, target)];
          if (from !== to && levels.get(to) >= levels.get(from))
            upward.push(`${from} → ${to}: ${relative(STATIC, file)}`);
        }
      }
      assert.deepEqual(upward, []);
    });
  });
}
