import type { Attack } from './attack';

export const markup: readonly Attack[] = [];
