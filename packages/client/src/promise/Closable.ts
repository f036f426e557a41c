declare global {
  /** As `@types/node` and the library `esnext.disposable` have it: an application may have either, or neither. */
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol
  }
}

/** For `await using`. The same as `AsyncDisposable`. */
export interface Closable {
  [Symbol.asyncDispose](): PromiseLike<void>
}
