type ChoiceProps = {
  label: string
  value: string
  /** Each with what is shown for it; by itself, a value is shown as it is. */
  options: readonly (string | readonly [value: string, text: string])[]
  onChange: (value: string) => void
}

/** Lets a person choose one of several values. */
export function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map((option) => {
        const [of, text] = typeof option === 'string' ? [option, option] : option
        return (
          <option key={of} value={of}>
            {text}
          </option>
        )
      })}
    </select>
  )
}

type SearchProps = { label: string; hint: string; value: string; onChange: (value: string) => void }

/** Takes words to search for. */
export function SearchField({ label, hint, value, onChange }: SearchProps) {
  return (
    <input
      type="search"
      class="grow"
      placeholder={hint}
      aria-label={label}
      value={value}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  )
}
