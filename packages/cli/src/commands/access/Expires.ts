export const until = ({ expires_at }: { readonly expires_at?: string }): string =>
  expires_at === undefined ? "" : ` until ${expires_at}`
