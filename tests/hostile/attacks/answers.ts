import type { Attack } from './attack';

export const answers: readonly Attack[] = [];
