const START = 'arn:aws:states:::states:startExecution'
const WAIT = { Type: 'Wait', Seconds: 1 }

/** @param {string} start @param {Record<string, object>} states @param {object} [more] */
const machine = (start, states, more = {}) => ({ StartAt: start, States: states, ...more })
const JSONATA = { QueryLanguage: 'JSONata' }

/**
 * What the part runs, by name. `machines` is their common prefix, `queue` where the question goes.
 * @param {{ machines: string, queue: string }} given
 * @returns {Record<string, { type?: 'EXPRESS', definition: object }>}
 */
export function machinesFor({ machines, queue }) {
  return {
    greet: {
      type: 'EXPRESS',
      definition: machine(
        'Greet',
        { Greet: { Type: 'Pass', Output: "{% { 'text': 'Hello ' & $states.input.name } %}", End: true } },
        JSONATA,
      ),
    },
    refuse: {
      type: 'EXPRESS',
      definition: machine('No', { No: { Type: 'Fail', Error: 'Refused', Cause: 'Not today.' } }),
    },
    steps: {
      definition: machine('Prepare', {
        Prepare: { ...WAIT, Seconds: 3, Next: 'Pack' },
        Pack: { ...WAIT, Seconds: 3, Next: 'Send' },
        Send: { Type: 'Pass', Result: { parcel: 17 }, End: true },
      }),
    },
    deploy: {
      definition: machine(
        'Approve',
        {
          Approve: {
            Type: 'Task',
            Resource: 'arn:aws:states:::sqs:sendMessage.waitForTaskToken',
            Arguments: {
              QueueUrl: queue,
              MessageBody: {
                token: '{% $states.context.Task.Token %}',
                question: "{% 'Roll out ' & $states.input.version & '?' %}",
              },
            },
            Output: "{% { 'approved': $states.result.ok } %}",
            End: true,
          },
        },
        JSONATA,
      ),
    },
    price: {
      definition: machine(
        'Sum',
        {
          Sum: {
            Type: 'Pass',
            Assign: { total: '{% $sum($states.input.items.price) %}' },
            Next: 'Tell',
          },
          Tell: { Type: 'Pass', Output: "{% { 'total': $total } %}", End: true },
        },
        JSONATA,
      ),
    },
    broken: {
      definition: machine('Fine', {
        Fine: { Type: 'Pass', Next: 'Breaks' },
        Breaks: { Type: 'Fail', Error: 'Boom', Cause: 'It broke.' },
      }),
    },
    sleeper: { definition: machine('Sleep', { Sleep: { ...WAIT, Seconds: 600, End: true } }) },
    nap: { definition: machine('Nap', { Nap: { ...WAIT, Seconds: 4, End: true } }) },
    overdue: {
      definition: machine('Nap', { Nap: { ...WAIT, Seconds: 4, End: true } }, { TimeoutSeconds: 1 }),
    },
    parent: {
      definition: machine('Start', {
        Start: {
          Type: 'Task',
          Resource: START,
          Parameters: { StateMachineArn: `${machines}:nap` },
          Next: 'Go on',
        },
        'Go on': { ...WAIT, Seconds: 2, End: true },
      }),
    },
    waiting_parent: {
      definition: machine('Start', {
        Start: {
          Type: 'Task',
          Resource: `${START}.sync:2`,
          Parameters: { StateMachineArn: `${machines}:nap` },
          End: true,
        },
      }),
    },
    both: {
      definition: machine('Both', {
        Both: {
          Type: 'Parallel',
          Branches: ['Left', 'Right'].map((name) =>
            machine(name, { [name]: { ...WAIT, Seconds: 3, End: true } }),
          ),
          End: true,
        },
      }),
    },
    each: {
      definition: machine('Each', {
        Each: {
          Type: 'Map',
          ItemsPath: '$.items',
          ItemProcessor: machine('One', { One: { ...WAIT, Seconds: 3, End: true } }),
          End: true,
        },
      }),
    },
    files: {
      definition: machine('Files', {
        Files: {
          Type: 'Map',
          Label: 'Files',
          ItemsPath: '$.items',
          ItemProcessor: {
            ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
            ...machine('One', { One: { ...WAIT, Seconds: 3, End: true } }),
          },
          End: true,
        },
      }),
    },
  }
}
