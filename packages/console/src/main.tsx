import { render } from "preact"
import { watchDoubleClicks } from "./kit/DoubleClick.js"
import { preloadPage } from "./pages/Shown.js"
import { place, watchAddress } from "./routing/Router.js"
import { Shell } from "./shell/Shell.js"
import { watchStaging } from "./staging/Staging.js"
import { watchConnection } from "./state/Connection.js"
import { watchTheme } from "./state/Theme.js"
import { watchVisited } from "./state/Visited.js"
import { release, watchUnsent } from "./routing/Unsent.js"
import "./styles/base.css"
import "./styles/parts.css"
import "./styles/pages.css"
import "./styles/shell.css"

// A page that the browser kept, with what it holds, may come back after a logout.
addEventListener("pageshow", ({ persisted }) => {
  if (!persisted) return
  release()
  location.reload()
})
watchTheme()
watchDoubleClicks()
watchAddress()
watchVisited()
preloadPage(place.peek())
watchConnection()
watchStaging()
watchUnsent()
const root = document.getElementById("console")
if (root !== null) render(<Shell />, root)
