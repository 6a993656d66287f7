import { expect, it } from 'vitest'
import type { AslDefinition } from './asl.js'
import { gate } from './emulator-fixture.js'
import { startStepFunctionsEmulator } from './index.js'
import { refusals } from './unsupported.js'

const state = (fields: object) => ({ StartAt: 'S', States: { S: { Type: 'Pass', End: true, ...fields } } })
const callback = 'arn:aws:states:::sqs:sendMessage.waitForTaskToken'

it.each<[string, object, RegExp]>([
  ['JSONata of the machine', { QueryLanguage: 'JSONata', ...state({}) }, /QueryLanguage JSONata/],
  ['JSONata of a state', state({ QueryLanguage: 'JSONata' }), /state 'S': QueryLanguage JSONata/],
  ['Assign', state({ Assign: { a: 1 } }), /Assign \(variables\).*ResultPath/],
  ['Output', state({ Output: {} }), /Output belongs to JSONata/],
  ['Arguments', state({ Type: 'Task', Resource: callback, Arguments: {} }), /Arguments belongs to JSONata/],
  [
    'Assign in a Catch',
    state({ Catch: [{ ErrorEquals: ['States.ALL'], Assign: {}, Next: 'S' }] }),
    /in a Catch/,
  ],
  ['variables', state({ Parameters: { 'a.$': '$name.x' } }), /variable \$name/],
  [
    'a distributed Map',
    state({
      Type: 'Map',
      ItemProcessor: { ProcessorConfig: { Mode: 'DISTRIBUTED' }, StartAt: 'T', States: {} },
    }),
    /INLINE/,
  ],
  ['ItemReader', state({ Type: 'Map', ItemReader: {} }), /ItemReader/],
  [
    'activities',
    state({ Type: 'Task', Resource: 'arn:aws:states:us-east-1:111122223333:activity:a' }),
    /activities/,
  ],
  [
    '.sync without a function',
    state({ Type: 'Task', Resource: 'arn:aws:states:::ecs:runTask.sync' }),
    /register a function/,
  ],
  [
    'unknown intrinsic functions',
    state({ Parameters: { 'a.$': "States.Format('States.Nope()', States.Magic($.a))" } }),
    /States\.Magic/,
  ],
  [
    'context that is missing',
    state({ Parameters: { 'a.$': '$$.State.EnteredTime' } }),
    /\$\$\.State\.EnteredTime/,
  ],
  ['a token nobody waits for', state({ Parameters: { 'a.$': '$$.Task.Token' } }), /waitForTaskToken/],
  ['a Wait of a month', state({ Type: 'Wait', Seconds: 2_678_400 }), /2147483/],
  [
    'below a Parallel',
    { StartAt: 'P', States: { P: { Type: 'Parallel', Branches: [state({ Assign: {} })] } } },
    /state 'S': Assign/,
  ],
])('refuses %s by name', (_, definition, complaint) => {
  const found = refusals(definition as AslDefinition, { express: false, hasTask: () => false })
  expect(found).toHaveLength(1)
  expect(found[0]).toMatch(complaint)
})

it('refuses callbacks in EXPRESS machines only', () => {
  const hasTask = () => true
  expect(refusals(gate as AslDefinition, { express: true, hasTask })[0]).toMatch(/STANDARD/)
  expect(refusals(gate as AslDefinition, { express: false, hasTask })).toEqual([])
})

it('refuses before anything runs', async () => {
  const definition = state({ Assign: { a: 1 } })
  await expect(startStepFunctionsEmulator({ stateMachines: { s: definition } })).rejects.toMatchObject({
    type: 'InvalidDefinition',
    message: expect.stringContaining("state 'S': Assign"),
  })
  await expect(startStepFunctionsEmulator({ stateMachines: { s: { StartAt: 'S' } } })).rejects.toThrow(
    /required property 'States'/,
  )
  await expect(startStepFunctionsEmulator({ stateMachines: { s: '{' } })).rejects.toThrow(/INVALID_JSON/)
})
