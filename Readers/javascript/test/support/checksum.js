// CRC-32C bit by bit, as FORMAT.md says it: slow, and not the way of stow.js.

export function checksum(bytes) {
  let state = 0xFFFFFFFF;
  for (const byte of bytes) {
    state ^= byte;
    for (let bit = 0; bit < 8; bit++) state = (state >>> 1) ^ (state & 1 ? 0x82F63B78 : 0);
  }
  return ~state >>> 0;
}
