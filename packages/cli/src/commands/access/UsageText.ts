import { unusedDays } from "@coffer/domain/base/Usage"

interface Used {
  readonly usage?: string | undefined
}

const usageText = ({ usage }: Used): string | undefined =>
  usage === "unused" ? `unused for ${unusedDays} days` : usage

/** The column of a list in which something is marked as unused; none in others. */
export const usageColumn = (items: ReadonlyArray<Used>): { readonly usage?: (item: Used) => string | undefined } =>
  items.some(({ usage }) => usage !== undefined) ? { usage: usageText } : {}
