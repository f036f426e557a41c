import { Visible } from "./Visible.js"

/** A value as it is stored. */
export const StoredText = ({ text }: { readonly text: string }) =>
  text === "" ? <>(empty)</> : <Visible text={text} />
