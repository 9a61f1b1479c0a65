// What ES modules import the functions of the recorder from.
const recorder = process['stillframe.record'];
export const {
  a, b, bo, c, cc, d, e, f, fb, fd, fl, fs, fw, g, h, i, im, j, k, kk, l, m, n, o, ov, p, q, r, rc, rd, re, t, tt,
  u, v, w, x, y, z,
} = recorder;
// The numbers of a module whose text has none (`record_loader.mjs`).
const [, script] = import.meta.url.split('?script=');
export const N = script === undefined ? undefined : recorder.numbers(script);
