/** The names in a JSON Pointer, from the whole to the part (RFC 6901). */
export const namesInPointer = (pointer: string): ReadonlyArray<string> =>
  pointer
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
