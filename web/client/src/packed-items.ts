/** The items a report names, as bytes: always the same number for one list and ε. */

/** Writes increasing items: as a list of numbers, or as a bitmap where that is shorter. */
export function packItems(items: readonly number[], size: number): Uint8Array {
  const width = 32 - Math.clz32(size - 1);
  const listLength = Math.ceil((items.length * width) / 8);
  const isBitmap = Math.ceil(size / 8) < listLength;
  const packed = new Uint8Array(isBitmap ? Math.ceil(size / 8) : listLength);
  const setBit = (place: number) => {
    packed[place >> 3] = (packed[place >> 3] ?? 0) | (128 >> (place & 7));
  };
  if (isBitmap) items.forEach(setBit);
  else {
    items.forEach((item, i) => {
      for (let bit = 0; bit < width; bit++) {
        if ((item >> (width - 1 - bit)) & 1) setBit(i * width + bit);
      }
    });
  }
  return packed;
}
