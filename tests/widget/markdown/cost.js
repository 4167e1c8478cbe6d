import assert from "node:assert/strict";

/**
 * CPU time that some work takes, in milliseconds. Unlike wall-clock time it does not grow when the machine is busy.
 * @param {() => void} work
 */
export function cpuTime(work) {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * The typical cost of ordinary work, once it is compiled: the yardstick for hostile work in the same run.
 * @param {() => void} work
 */
export function ordinaryCost(work) {
  for (let i = 0; i < 5; i++) work();
  const costs = Array.from({ length: 5 }, () => cpuTime(work)).sort((a, b) => a - b);
  return costs[2];
}

/**
 * Fail when some work costs more than `limit` milliseconds of CPU time each time it is tried.
 * @param {string} name @param {() => void} work @param {number} limit
 */
export function assertCheap(name, work, limit) {
  let cost = Infinity;
  for (let attempt = 0; attempt < 3 && cost > limit; attempt++) cost = Math.min(cost, cpuTime(work));
  assert.ok(cost <= limit, `${name}: ${Math.round(cost)} ms of CPU time, where ${Math.round(limit)} ms are allowed`);
}
