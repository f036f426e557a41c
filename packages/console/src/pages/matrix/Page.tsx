import type { PageProps } from "../Pages.js"

/** The matrix of a project: keys by environments. */
export const Page = ({ place: { project } }: PageProps<"project">) => (
  <section>
    <h1>{project}</h1>
  </section>
)
