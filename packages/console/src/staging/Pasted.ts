import { signal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { type Place, projectAddress } from "../routing/Places.js"
import { navigate } from "../routing/Router.js"
import type { ProjectPlace } from "./Writes.js"

/** A text or a file that was pasted or dropped on a page of a project. */
export interface Pasted extends ProjectPlace {
  readonly text: string
  /** The name of the file; empty for a text. */
  readonly file: string
}

/** The text or file that the matrix takes next; null: none. */
export const pasted = signal<Pasted | null>(null)

/** Why nothing was taken; null: nothing is wrong. */
export const pasteProblem = signal<string | null>(null)

const mebi = 1024 * 1024

/** The largest text that is read. A larger one is no file of secrets, and would stop the page while it is parsed. */
const maxMebi = 8

/** Why a text of this size is not read, as a sentence; null if it is. */
export const tooLarge = (size: number, file: string): string | null =>
  size > maxMebi * mebi
    ? `${file === "" ? "The text" : file} has ${(size / mebi).toFixed(1)} MiB, and at most ${maxMebi} MiB are read at once: check that it is the right file, or split it.`
    : null

/** Whether a text is being typed that another page or dialog would replace. The one of the import may be replaced. */
const holdsText = (): boolean =>
  document.querySelector("#matrix-editor, dialog[open] textarea:not(#import-text)") !== null

const take = ({ org, project }: ProjectPlace, text: string, file: string) => {
  pasteProblem.value = tooLarge(text.length, file)
  if (pasteProblem.peek() === null && text.trim() !== "") pasted.value = { org, project, text, file }
}

const takeFile = (place: ProjectPlace, file: File) => {
  pasteProblem.value = tooLarge(file.size, file.name)
  if (pasteProblem.peek() !== null) return
  file.text().then(
    (text) => {
      take(place, text, file.name)
    },
    () => {
      pasteProblem.value = `${file.name} cannot be read.`
    }
  )
}

/** Whether the keyboard is in a field or a dialog. The target of a paste is not where the keyboard is. */
const isTyping = (): boolean => {
  const fields = "input:not([type=checkbox]), textarea, select, [contenteditable], dialog"
  return (document.activeElement?.closest(fields) ?? null) !== null
}

/** Takes what is pasted or dropped anywhere on the pages of a project, and opens the matrix for it. */
export const usePasted = (place: Place | null): void => {
  const org = place !== null && "org" in place ? place.org : null
  const project = place !== null && "project" in place ? place.project : null
  const isMatrix = place?.at === "project" && place.page === ""
  useEffect(() => {
    if (org === null || project === null) return
    const here = { org, project }
    const paste = (event: ClipboardEvent) => {
      if (isTyping() || holdsText() || event.clipboardData === null) return
      const [file] = event.clipboardData.files
      if (file !== undefined) takeFile(here, file)
      else take(here, event.clipboardData.getData("text/plain"), "")
    }
    const drag = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault()
    }
    const drop = (event: DragEvent) => {
      const [file] = event.dataTransfer?.files ?? []
      if (file === undefined) return
      // The browser would show the file in place of the page.
      event.preventDefault()
      if (holdsText()) pasteProblem.value = `Finish what you are typing first, and then drop ${file.name} again.`
      else takeFile(here, file)
    }
    document.addEventListener("paste", paste)
    document.addEventListener("dragover", drag)
    document.addEventListener("drop", drop)
    return () => {
      document.removeEventListener("paste", paste)
      document.removeEventListener("dragover", drag)
      document.removeEventListener("drop", drop)
    }
  }, [org, project])
  const found = pasted.value
  useEffect(() => {
    if (found === null || isMatrix) return
    const forget = () => (pasted.value = null)
    if (found.org !== org || found.project !== project) return void forget()
    navigate(projectAddress(found.org, found.project), { stay: forget })
  }, [found, isMatrix])
}
