/**
 * Instead of `@smithy/core/event-streams` in the bundle (16 kB): no operation of Step Functions and DynamoDB has a
 * stream of events.
 */
export class EventStreamSerde {
  constructor() {
    throw new Error('Streams of events are not bundled: no operation of Step Functions and DynamoDB has one.')
  }
}
