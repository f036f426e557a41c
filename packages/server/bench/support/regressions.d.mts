export type Kind = "processor" | "steps"

/** What a request costs, by kind and row. */
export type Costs = { readonly [kind in Kind]?: Readonly<Record<string, number>> }

export interface Regression {
  readonly row: string
  readonly kind: Kind
  readonly before: number
  readonly cost: number
}

export declare const tolerances: Readonly<Record<Kind, number>>
export declare const maxTries: number
export declare const costs: (
  results: ReadonlyArray<{ readonly row: string; readonly processor?: number; readonly steps?: number }>
) => Record<Kind, Record<string, number>>
export declare const regressions: (recorded: Costs, measured: Costs) => Array<Regression>
export declare const findRegressions: (
  recorded: Costs,
  measure: (attempt: number) => Promise<Costs>
) => Promise<Array<Regression>>
export declare const merge: (one: Costs, other: Costs) => Record<Kind, Record<string, number>>
