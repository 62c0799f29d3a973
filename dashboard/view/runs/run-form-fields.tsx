import type { AgentPage } from '#schemas/agent-schema.ts'
import type { z } from 'zod'
import type { RunForm } from '../../core/new-run-form.ts'
import { ProblemBox } from '../parts/problem-box.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { usePage } from '../page-context.ts'

type Listed = z.infer<typeof AgentPage>

type FieldProps = { form: RunForm; onChange: (part: Partial<RunForm>) => void }

/** Asks who is to do what, and where. */
export function RunFormFields({ form, onChange }: FieldProps) {
  return (
    <>
      <AgentFields {...{ form, onChange }} />
      <label class="field">
        Objective
        <span class="quiet">
          What is to be reached: a model plans which agents do what. Leave it empty to run the agents on all code.
        </span>
        <textarea
          value={form.objective}
          onInput={({ currentTarget }) => onChange({ objective: currentTarget.value })}
        />
      </label>
      {form.objective.trim() !== '' && (
        <label class="check">
          <input
            type="checkbox"
            checked={form.isApproved}
            onChange={({ currentTarget }) => onChange({ isApproved: currentTarget.checked })}
          />
          Do nothing of the plan before I have approved it
        </label>
      )}
      <TextField
        label="Paths"
        name="paths"
        hint="files, folders or globs, such as src/**/*.py; empty: all"
        {...{ form, onChange }}
      />
      <div class="row">
        <TextField label="At most so many operations" name="operations" isNumber {...{ form, onChange }} />
        <TextField label="Budget in tokens" name="budget" isNumber {...{ form, onChange }} />
      </div>
    </>
  )
}

function AgentFields({ form, onChange }: FieldProps) {
  const { connection } = usePage()
  const { value, error, again } = useLoaded('agents', (signal) => connection.json<Listed>('/v1/agents', { signal }))
  return (
    <fieldset>
      <legend>Agents</legend>
      {error !== undefined && <ProblemBox error={error} onRetry={again} />}
      <div class="row">
        {value?.agents.map(({ name, description }) => (
          <label key={name} class="check" title={description ?? undefined}>
            <input
              type="checkbox"
              checked={form.agents.includes(name)}
              onChange={({ currentTarget }) => onChange({ agents: toggled(form.agents, name, currentTarget.checked) })}
            />
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

type TextFieldProps = FieldProps & {
  label: string
  name: 'paths' | 'operations' | 'budget'
  hint?: string
  isNumber?: boolean
}

function TextField({ label, name, hint, isNumber, form, onChange }: TextFieldProps) {
  return (
    <label class="field">
      {label}
      <input
        type="text"
        inputmode={isNumber === true ? 'numeric' : 'text'}
        placeholder={hint}
        value={form[name]}
        onInput={({ currentTarget }) => onChange({ [name]: currentTarget.value })}
      />
    </label>
  )
}

function toggled(agents: readonly string[], name: string, isChecked: boolean): readonly string[] {
  return isChecked ? [...agents, name] : agents.filter((other) => other !== name)
}
