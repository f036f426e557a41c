export declare const problem: (folder?: string) => string | undefined
