/** Hands the browser a file to save. */
export const saveFile = (name: string, type: string, parts: ReadonlyArray<string>): void => {
  const address = URL.createObjectURL(new Blob([...parts], { type }))
  const link = document.createElement("a")
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
