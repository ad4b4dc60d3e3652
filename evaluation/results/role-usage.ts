import * as z from 'zod';

const whole = z.int().nonnegative();
const amount = z.number().nonnegative();

/** Tokens and cost of each role and model in one attempt. */
export const roleUsageSchema = z
  .array(
    z.strictObject({
      role: z.string().describe('the role that asked'),
      model: z.string().describe('the model that replied'),
      prompt_tokens: whole.nullable().describe('tokens of the prompts; null where the server did not say'),
      completion_tokens: whole
        .nullable()
        .describe('tokens of the replies; null where the server did not say'),
      cached_tokens: whole
        .exactOptional()
        .describe('of the prompts’, those that the server had kept from before'),
      calls: whole.describe('replies'),
      cost_usd: amount.nullable().describe('US dollars; null where the price is not known'),
    }),
  )
  .describe('What each role took of each model.');

export type RoleUsage = z.infer<typeof roleUsageSchema>;

/** Calls of each tool in one attempt. */
export const toolCallsSchema = z
  .array(
    z.strictObject({
      tool: z.string().describe('name of the tool'),
      count: whole.describe('calls'),
      failed: whole.describe('calls that failed'),
    }),
  )
  .describe('Which tools were called.');

export type ToolCalls = z.infer<typeof toolCallsSchema>;
