import { momentText } from "../../base/Moments.js"

export const until = ({ expires_at }: { readonly expires_at?: string }): string =>
  expires_at === undefined ? "" : ` until ${momentText(expires_at)}`
