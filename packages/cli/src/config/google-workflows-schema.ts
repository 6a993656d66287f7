import * as z from 'zod'
import { jsonObject, text } from './fields.js'

/** `engines.googleWorkflows` */
export const googleWorkflowsEngine = z
  .strictObject({
    keyFile: text(
      'A key file: of a service account, or the configuration of workload identity federation. Default: application default credentials',
    ).optional(),
    impersonate: text('A service account that is impersonated with the credentials found').optional(),
    transport: z
      .enum(['grpc', 'rest'])
      .optional()
      .describe('How executions are asked about; `rest` where gRPC does not get through. Default: `grpc`'),
    endpoint: z
      .url()
      .optional()
      .describe('A stand-in instead of Google, such as `http://127.0.0.1:8787`; only on a loopback address'),
    graceMs: z
      .int()
      .min(0)
      .optional()
      .describe(
        'For how long after its start an execution that Google does not list is taken to be on its way, in milliseconds. Default: 60000',
      ),
    readsPerSecond: z
      .number()
      .positive()
      .optional()
      .describe(
        'Looks at executions a second, for each process, in one project. Default: 50, half of what Google lets a project read',
      ),
  })
  .describe('Google Cloud Workflows. Credentials by the rules of Google, unless a key file is named')

const gate = z.strictObject({
  prompt: text('The question as a person reads it').optional(),
  promptVariable: text('The variable that holds the question, where there is no `prompt`').optional(),
  schema: jsonObject(
    'JSON Schema of the answer: one flat object of primitive properties. Default: no properties, so that accepting or declining is the answer',
  ).optional(),
  urlVariable: text(
    "The variable that holds the callback's URL, such as `callback_details.url`. Default: the URL that the callback's name gives",
  ).optional(),
  accept: jsonObject('What is sent beside an answer that was given').optional(),
  decline: jsonObject(
    'What is sent when the answer was declined. Default: nothing is, and the execution is cancelled',
  ).optional(),
  result: text(
    'The variable that the step puts the request in, by which our own answer is told from another',
  ).optional(),
})

/** `tools[].googleWorkflows` */
export const googleWorkflowsTool = z
  .strictObject({
    project: text('The project, by its id'),
    location: text('The location, such as `europe-west1`'),
    workflow: text('The name of the workflow'),
    revision: text(
      'Refuses to start while another revision is deployed; executions always run the deployed one',
    ).optional(),
    labels: z
      .record(z.string(), z.string())
      .optional()
      .describe('Labels of the executions, beside the one that holds the run key'),
    callLogLevel: z
      .enum(['all', 'errors', 'none'])
      .optional()
      .describe("What Google logs of calls. Default: the workflow's own"),
    historyLevel: z
      .enum(['basic', 'detailed'])
      .optional()
      .describe(
        "What Google keeps of the steps: `basic` counts iterations, `detailed` shows variables to `gates`. Default: the workflow's own, and nothing is read of it",
      ),
    gates: z
      .record(z.string(), gate)
      .optional()
      .describe('What is asked at a step that waits for a callback, by `step` or `routine.step`'),
  })
  .describe('The Google Cloud workflow that a call starts')
