/** Marks a protected environment. */
export const Shield = () => (
  <svg class="shield" viewBox="0 0 16 16" role="img" aria-label="protected">
    <title>protected: changes need votes</title>
    <path d="M8 1.2 2.5 3.3v4.2c0 3.3 2.2 6 5.5 7.3 3.3-1.3 5.5-4 5.5-7.3V3.3z" />
  </svg>
)

/** The hint that a change of a protected environment becomes a request. */
export const AsRequest = () => (
  <p class="hint">The environment is protected: the change becomes a request that other people approve.</p>
)
