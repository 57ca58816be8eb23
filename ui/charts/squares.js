/**
 * A treemap's rectangles, as square as they can be (Bruls, Huizing and van Wijk: Squarified Treemaps, 2000). Pure.
 * @param {{name: string, value: number}[]} parts largest first
 * @param {number} width @param {number} height
 * @returns {{name: string, value: number, x: number, y: number, width: number, height: number}[]}
 */
export function squares(parts, width, height) {
  const total = parts.reduce((sum, part) => sum + part.value, 0);
  const scale = (width * height) / total;
  const out = [];
  let x = 0, y = 0, w = width, h = height, at = 0;
  while (at < parts.length) {
    const side = Math.min(w, h);
    let count = 1, sum = parts[at].value * scale, worst = ratio([parts[at].value * scale], sum, side);
    while (at + count < parts.length) {
      const areas = parts.slice(at, at + count + 1).map((part) => part.value * scale);
      const next = sum + areas[count];
      const now = ratio(areas, next, side);
      if (now > worst) break;
      [count, sum, worst] = [count + 1, next, now];
    }
    const depth = side === 0 ? 0 : sum / side;
    let along = 0;
    for (const part of parts.slice(at, at + count)) {
      const size = sum === 0 ? 0 : (part.value * scale * side) / sum;
      out.push(w >= h ? { ...part, x, y: y + along, width: depth, height: size } : { ...part, x: x + along, y, width: size, height: depth });
      along += size;
    }
    if (w >= h) [x, w] = [x + depth, w - depth];
    else [y, h] = [y + depth, h - depth];
    at += count;
  }
  return out;
}

/** The least square of a row's rectangles. @param {number[]} areas @param {number} sum @param {number} side */
function ratio(areas, sum, side) {
  const most = Math.max(...areas), least = Math.min(...areas);
  return Math.max((side * side * most) / (sum * sum), (sum * sum) / (side * side * least));
}
