/** Shapes of the architecture diagram, and their colours in light and dark mode. */

const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

export const text = (x, y, style, words, anchor = "start") =>
  `<text x="${x}" y="${y}" class="${style}"${anchor === "start" ? "" : ` text-anchor="${anchor}"`}>${escape(words)}</text>`

export const box = ({ height, width, x, y }, style, radius = 8) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}" class="${style}"/>`

/** A room: its name, with a caption below. */
export const room = (area, style, name, about) => {
  const middle = area.x + area.width / 2
  return [
    box(area, style),
    text(middle, area.y + 24, "name", name, "middle"),
    text(middle, area.y + 43, "about", about, "middle")
  ].join("\n")
}

/** An arrow along a path. */
export const arrow = (path, style = "edge") => `<path d="${path}" class="${style}" marker-end="url(#tip)"/>`

const light = {
  page: "#ffffff",
  frame: ["#f6f8fa", "#c5ccd3"],
  group: ["none", "#c5ccd3"],
  room: ["#ffffff", "#aab4be"],
  feature: ["#e8f2ff", "#8ab8ee"],
  admission: ["#f2ebfd", "#bb9ff0"],
  service: ["#e9f7ec", "#8ccb9b"],
  storage: ["#fff5dd", "#dfb756"],
  strong: "#1f2328",
  soft: "#57606a",
  line: "#6e7781"
}

const dark = {
  page: "#0d1117",
  frame: ["#161b22", "#3d444d"],
  group: ["none", "#3d444d"],
  room: ["#1c2128", "#57606a"],
  feature: ["#10243e", "#2f6db5"],
  admission: ["#251a3d", "#7c55c4"],
  service: ["#12291a", "#35804a"],
  storage: ["#2f2508", "#9a7420"],
  strong: "#f0f3f6",
  soft: "#b1bac4",
  line: "#9198a1"
}

const filled = ["frame", "group", "room", "feature", "admission", "service", "storage"]

const rules = (colours) =>
  [
    `.page{fill:${colours.page}}`,
    ...filled.map((name) => `.${name}{fill:${colours[name][0]};stroke:${colours[name][1]}}`),
    `.name,.title,.head{fill:${colours.strong}}`,
    `.about,.small{fill:${colours.soft}}`,
    `.edge,.load{stroke:${colours.line}}`,
    `#tip path{fill:${colours.line}}`
  ].join("")

const style = `text{font-family:system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif}
.name{font-size:15px;font-weight:600}.title{font-size:17px;font-weight:600}.head{font-size:13px;font-weight:600}
.about{font-size:12.5px}.small{font-size:11px}
.edge,.load{fill:none;stroke-width:1.5}.load{stroke-dasharray:1.5 4}
${rules(light)}
@media (prefers-color-scheme:dark){${rules(dark)}}`

/** The whole picture. */
export const picture = (
  width,
  height,
  title,
  parts
) => `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<!-- Drawn by scripts/architecture.mjs: run npm run generate. -->
<title>${escape(title)}</title>
<style>${style}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8Z"/></marker></defs>
${box({ x: 0, y: 0, width, height }, "page", 0)}
${parts.join("\n")}
</svg>
`
