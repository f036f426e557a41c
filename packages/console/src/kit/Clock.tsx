/** Marks an environment that ends, and a group of them. The words beside it say so too. */
export const Clock = () => (
  <svg class="clock" viewBox="0 0 16 16" aria-hidden="true">
    <circle cx="8" cy="9" r="5.6" />
    <path d="M8 5.8V9l2 1.6M6.2 1.4h3.6" />
  </svg>
)
