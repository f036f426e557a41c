import { Link } from "../routing/Link.js"

export const MissingPage = () => (
  <section class="empty">
    <h1>There is no such page</h1>
    <p>The address names nothing here. A name may have changed.</p>
    <Link to="/">To the organizations</Link>
  </section>
)
