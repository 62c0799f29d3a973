import { useEffect, useMemo, useState } from 'preact/hooks'
import type { RunRequest } from '#client/wire.ts'
import { isArchive, packFiles, type PickedFile } from '../../core/pack-files.ts'
import { linkTo } from '../../core/route.ts'
import { type Estimate, estimate, requestOf, type RunForm, startRun } from '../../core/new-run-form.ts'
import { PageHead, ProblemBox } from '../parts/shown.tsx'
import { useAction } from '../parts/controls.tsx'
import { useMayWrite, usePage } from '../page-context.ts'
import { EstimateBox } from './estimate-box.tsx'
import { SourcePicker } from './source-picker.tsx'
import type { AgentPage } from '#schemas/agent-schema.ts'
import type { z } from 'zod'
import { useLoaded } from '../parts/use-loaded.ts'

const emptyForm: RunForm = {
  agents: [],
  objective: '',
  isApproved: true,
  paths: '',
  operations: '',
  budget: '',
}

export function SubmitPage() {
  const mayWrite = useMayWrite()
  if (mayWrite) return <SubmitForm />
  return (
    <>
      <PageHead title="New run" />
      <p class="problem" role="alert">
        Your token may only look: it lacks the scope runs:write.
        <a href={linkTo({ page: 'runs' })}>All runs</a>
      </p>
    </>
  )
}

function SubmitForm() {
  const [files, setFiles] = useState<readonly PickedFile[]>([])
  const [form, setForm] = useState(emptyForm)
  const request = requestOf(form)
  const { action, estimated, look, start } = useSending(files, form)
  const isReady = files.length > 0 && request !== undefined && !action.isBusy
  return (
    <div class="stack narrow">
      <PageHead title="New run" />
      <SourcePicker files={files} onFiles={setFiles} />
      <RunFormFields form={form} onChange={(part) => setForm({ ...form, ...part })} />
      {action.problem}
      {estimated && <EstimateBox {...estimated} />}
      <div class="row">
        <button class={estimated ? undefined : 'primary'} disabled={!isReady} onClick={look}>
          Dry run first
        </button>
        <button class={estimated ? 'primary' : undefined} disabled={!isReady} onClick={start}>
          {estimated ? 'Start for real' : 'Start'}
        </button>
        <span class="quiet" role="status">
          {statusOf(files, request, action.isBusy)}
        </span>
      </div>
    </div>
  )
}

/** Sends what was filled in: `look` has it planned only, `start` begins the run and shows it. `estimated` is what was found of the form as it is now. */
function useSending(files: readonly PickedFile[], form: RunForm) {
  const { connection } = usePage()
  const [looked, setLooked] = useState<{ estimated: Estimate; files: readonly PickedFile[]; form: RunForm }>()
  const leaving = useMemo(() => new AbortController(), [])
  useEffect(() => () => leaving.abort(), [leaving])
  const action = useAction()
  const send = (work: (request: RunRequest, archive: Blob) => Promise<unknown>) =>
    action.run(async () => {
      const request = requestOf(form)
      if (request !== undefined) await work(request, await archiveOf(files))
    })
  const start = () =>
    send(async (wanted, archive) => {
      const runId = await startRun(connection, wanted, archive)
      // Who has left meanwhile finds it in the list of runs.
      if (!leaving.signal.aborted) location.hash = linkTo({ page: 'run', runId, tab: 'overview' })
    })
  const look = () =>
    send(async (wanted, archive) => {
      const estimated = await estimate(connection, { request: wanted, archive, signal: leaving.signal })
      setLooked({ estimated, files, form })
    })
  const isCurrent = looked?.files === files && looked.form === form
  return { action, estimated: isCurrent ? looked.estimated : undefined, look, start }
}

function statusOf(files: readonly PickedFile[], request: RunRequest | undefined, isBusy: boolean): string {
  if (isBusy) return 'Packing, sending and planning …'
  if (files.length === 0) return 'Give it a folder or an archive.'
  return request === undefined ? 'Name an agent, or say what is to be reached; limits are whole numbers.' : ''
}

async function archiveOf(files: readonly PickedFile[]): Promise<Blob> {
  const [only, ...others] = files
  return only !== undefined && others.length === 0 && isArchive(only.file) ? only.file : packFiles(files)
}

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
