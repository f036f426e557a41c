/** Replaces Node's `FormData` in the clients, which send no forms: the first look at it loads all of `fetch`. */
export class FormData {}
