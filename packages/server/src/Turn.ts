/** The old names of `EventLoop.ts`, for two modules that another change is rewriting. */
export { forEachInSlices as forEachInTurns, nextTick as turn } from "./EventLoop.js"
