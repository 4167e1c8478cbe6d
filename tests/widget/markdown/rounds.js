/** @param {number} few in `make test`; `many` in `make matrix`, which sets MATRIX */
export const rounds = (few, many) => (process.env.MATRIX ? many : few);
