import { Check } from "lucide"
import { Icon } from "./Icon.js"
import "./FirstRun.css"

const steps = ["Organization", "Project", "Secrets"] as const

/** The way from nothing to the first stored secret, and how far a person has come. */
export const FirstSteps = ({ at }: { readonly at: (typeof steps)[number] }) => {
  const current = steps.indexOf(at)
  return (
    <ol class="first-steps" aria-label={`Step ${current + 1} of ${steps.length}`}>
      {steps.map((step, index) => (
        <li key={step} class={index < current ? "done" : undefined} aria-current={step === at ? "step" : undefined}>
          <span class="first-number" aria-hidden="true">
            {index < current ? <Icon of={Check} /> : index + 1}
          </span>
          {step}
        </li>
      ))}
    </ol>
  )
}
