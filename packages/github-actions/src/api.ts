import * as z from 'zod'

/** What is read of GitHub's answers; everything else in them may come and go. Ids may be larger than a double holds. */
const id = z.union([z.int(), z.bigint()]).transform(String)
const moment = z.iso
  .datetime({ offset: true })
  .transform((text) => Date.parse(text))
  .nullish()

export const repositorySchema = z.object({ default_branch: z.string(), full_name: z.string() })

export const workflowSchema = z.object({
  id,
  name: z.string(),
  path: z.string(),
  state: z.string(),
  html_url: z.string(),
})

export const workflowsSchema = z.object({ total_count: z.int(), workflows: z.array(workflowSchema) })

export const contentSchema = z.object({ encoding: z.string(), content: z.string() })

export const dispatchedSchema = z.object({ workflow_run_id: id })

export const runSchema = z.object({
  id,
  display_title: z.string().nullish(),
  path: z.string().nullish(),
  status: z.string().nullish(),
  conclusion: z.string().nullish(),
  run_attempt: z.int().nullish(),
  html_url: z.string(),
  created_at: moment,
  run_started_at: moment,
  updated_at: moment,
})
export type ApiRun = z.output<typeof runSchema>

export const runsSchema = z.object({ total_count: z.int(), workflow_runs: z.array(runSchema) })

const stepSchema = z.object({
  name: z.string(),
  number: z.int(),
  status: z.string(),
  conclusion: z.string().nullish(),
  started_at: moment,
  completed_at: moment,
})
export type ApiStep = z.output<typeof stepSchema>

const jobSchema = z.object({
  id: z.int(),
  name: z.string(),
  status: z.string(),
  conclusion: z.string().nullish(),
  html_url: z.string().nullish(),
  started_at: moment,
  completed_at: moment,
  steps: z.array(stepSchema).nullish(),
})
export type ApiJob = z.output<typeof jobSchema>

export const jobsSchema = z.object({ total_count: z.int(), jobs: z.array(jobSchema) })

export const artifactsSchema = z.object({
  total_count: z.int(),
  artifacts: z.array(
    z.object({
      id,
      name: z.string(),
      size_in_bytes: z.number(),
      expired: z.boolean(),
      created_at: moment,
    }),
  ),
})
export type ApiArtifact = z.output<typeof artifactsSchema>['artifacts'][number]

export const annotationsSchema = z.array(
  z.object({
    path: z.string().nullish(),
    start_line: z.number().nullish(),
    annotation_level: z.string().nullish(),
    title: z.string().nullish(),
    message: z.string().nullish(),
  }),
)
export type ApiAnnotation = z.output<typeof annotationsSchema>[number]

export const pendingSchema = z.array(
  z.object({
    environment: z.object({ id: z.int(), name: z.string() }),
    wait_timer: z.number().nullish(),
    wait_timer_started_at: moment,
    current_user_can_approve: z.boolean(),
    reviewers: z
      .array(
        z.object({
          reviewer: z
            .object({ login: z.string().optional(), name: z.string().nullish(), slug: z.string().optional() })
            .optional(),
        }),
      )
      .optional(),
  }),
)

export const reviewsSchema = z.array(
  z.object({
    environments: z.array(z.object({ id: z.int(), name: z.string() })),
    state: z.string(),
    comment: z.string(),
    user: z.object({ login: z.string() }).nullish(),
  }),
)
export type ApiReview = z.output<typeof reviewsSchema>[number]
