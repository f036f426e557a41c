type Times = Readonly<Record<string, number>>

export const tolerance: number
export const maxTries: number
export const processorTimes: (
  results: ReadonlyArray<{ readonly row: string; readonly processor?: number | undefined }>
) => Times

interface Regression {
  readonly row: string
  readonly before: number
  readonly processor: number
}

export const regressions: (recorded: Times, measured: Times) => ReadonlyArray<Regression>
export const findRegressions: (
  recorded: Times,
  measure: (attempt: number) => Promise<Times>
) => Promise<ReadonlyArray<Regression>>
