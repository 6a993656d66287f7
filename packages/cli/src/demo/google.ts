import { setTimeout as delay } from 'node:timers/promises'
import { type GoogleWorkflowsEmulator, startGoogleWorkflowsEmulator } from '@runbridge/emulators/google'

/**
 * The demo's Google workflow on the embedded stand-in: pages are translated one after the other, then an editor is
 * asked by a callback.
 * @param pace of its steps: 1 as a person follows it, 0 for tests
 */
export function startDemoGoogle(pace = 1): Promise<GoogleWorkflowsEmulator> {
  return startGoogleWorkflowsEmulator({
    project: 'demo',
    location: 'europe-west1',
    workflows: {
      'translate-manual': {
        description: 'Translates a manual and publishes it once an editor agrees.',
        steps: [
          { step: 'translate', for: 3, steps: [{ step: 'page', call: () => delay(700 * pace) }] },
          { step: 'create', createCallback: 'callback_details' },
          { step: 'review', awaitCallback: 'callback_details', result: 'callback_request' },
          {
            step: 'publish',
            return: { language: '$input.language', pages: 3, review: '$callback_request.http_request.body' },
          },
        ],
      },
    },
  })
}
