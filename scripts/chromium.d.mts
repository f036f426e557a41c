export declare const chromiumPath: () => string | undefined
export declare const chromiumFlags: Array<string>
export declare const noChromium: string
