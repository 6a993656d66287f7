import { expect, it } from 'vitest'
import type { AslDefinition, Json } from './asl.js'
import { interpret } from './interpreter.js'
import { executionField, level, stateNamesField } from './level.js'

/** Runs one level as an execution would, with a Task that gives back its input. */
async function run(States: Record<string, object>, input: Json): Promise<Json> {
  const ready = level({ StartAt: 'S', States } as unknown as AslDefinition)
  const context = { [executionField]: { Name: 'run' }, [stateNamesField]: ready.names }
  return interpret(ready.definition, input, context, { S: async (given) => given }).result
}
const one = (fields: object, input: Json) => run({ S: { Type: 'Pass', End: true, ...fields } }, input)

it('gives ResultPath and InputPath their meaning where they are $', async () => {
  expect(await one({ Result: 1, ResultPath: '$' }, { a: 1 })).toBe(1)
  expect(await one({ Result: 1, ResultPath: "$['b c']" }, { a: 1 })).toEqual({ a: 1, 'b c': 1 })
  expect(await one({ InputPath: '$', OutputPath: '$' }, 0)).toBe(0)
})

it.each([false, 0, '', null])('passes the Result %j on', async (Result) => {
  expect(await one({ Result }, { a: 1 })).toEqual(Result)
})

it.each([null, 0, false, '', [], {}])('hands a Task without Parameters the input %j', async (input) => {
  expect(await one({ Type: 'Task', Resource: 'arn:x' }, input)).toEqual(input)
})

it('evaluates the paths of a Task beside its parameters', async () => {
  const fields = { Type: 'Task', Resource: 'arn:x', Parameters: { 'a.$': '$.b' }, TimeoutSecondsPath: '$.t' }
  expect(await one(fields, { b: 2, t: 30 })).toEqual({ input: { a: 2 }, timeoutSeconds: 30 })
})

it('lets a Choice match on what is absent', async () => {
  const states = {
    S: {
      Type: 'Choice',
      Choices: [{ Variable: '$.a', IsPresent: false, Next: 'Absent' }],
      Default: 'Present',
    },
    Absent: { Type: 'Pass', Result: 'absent', End: true },
    Present: { Type: 'Pass', Result: 'present', End: true },
  }
  expect(await run(states, {})).toBe('absent')
  expect(await run(states, { a: 1 })).toBe('present')
})

it('lets no Choice compare a text with a number', async () => {
  const states = {
    S: {
      Type: 'Choice',
      Choices: [
        { Variable: '$.a', NumericLessThan: 10, Next: 'Number' },
        { Not: { Variable: '$.a', StringMatches: '*' }, Next: 'Number' },
      ],
      Default: 'Text',
    },
    Number: { Type: 'Pass', Result: 'number', End: true },
    Text: { Type: 'Pass', Result: 'text', End: true },
  }
  expect(await run(states, { a: 5 })).toBe('number')
  expect(await run(states, { a: 50 })).toBe('number')
  expect(await run(states, { a: '5' })).toBe('text')
})

it('keeps the context object of the execution and the name of the state', async () => {
  const Parameters = { 'run.$': '$$.Execution.Name', 'state.$': "States.Format('in {}', $$.State.Name)" }
  expect(await one({ Parameters }, { a: 1 })).toEqual({ run: 'run', state: 'in S' })
})
