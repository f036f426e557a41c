/**
 * The first script of the page, which has no library: it sends the requests of the page, and draws a matrix, while the others
 * are on their way.
 */
import type { CompactMatrix } from "@coffer/domain/secrets/CompactMatrix"
import { beginRead } from "./client/Begun.js"
import { drawPreview } from "./pages/matrix/Preview.js"
import type { PlaceAt } from "./pages/PageProps.js"
import { placeOf } from "./routing/Places.js"
import { storedNames, storedText } from "./state/Stored.js"
import { drawIn, storedTheme } from "./state/StoredTheme.js"

const isMatrix = (found: unknown): found is CompactMatrix =>
  typeof found === "object" && found !== null && "writes" in found

/** Whether the matrix is shown as it is stored. Its parameters change that, and so do the first steps of a newcomer. */
const isPlain = (): boolean =>
  storedText(storedNames.firstRun) === null &&
  [...new URLSearchParams(location.search).keys()].every((name) => name === "env")

/** Loads the scripts of the matrix: after its response, whose bytes come before theirs. */
const preload = (): void => {
  const scripts = document.querySelector<HTMLMetaElement>("meta[name=matrix]")?.content ?? ""
  for (const href of scripts.split(" ").filter((one) => one !== "")) {
    document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", crossOrigin: "", href }))
  }
}

/** Whether this script came from the network, as on a first visit. The font of the page is not there either, and comes later. */
const isFirstVisit = (): boolean => {
  const [own] = performance.getEntriesByName(import.meta.url)
  return own instanceof PerformanceResourceTiming && own.transferSize > 0
}

const preview = async (place: PlaceAt<"project">, response: Response): Promise<void> => {
  if (!response.ok || !isPlain()) return
  // The page reads the response, too.
  const found: unknown = await response.clone().json()
  if (isMatrix(found)) drawPreview(place, found, isFirstVisit())
}

const place = placeOf(location.pathname)
drawIn(storedTheme())
if (place !== null) {
  if (place.at === "project" && place.page === "") {
    const path = `/api/orgs/${place.org}/projects/${place.project}`
    const matrix = beginRead(`${path}/matrix?format=compact`)
    matrix
      .then((response) => preview(place, response))
      .catch(() => {})
      .finally(preload)
    for (const one of ["/api/auth/me", "/api/orgs", "/api/server", `${path}/declared`]) void beginRead(one)
  } else for (const one of ["/api/auth/me", "/api/orgs", "/api/server"]) void beginRead(one)
}
