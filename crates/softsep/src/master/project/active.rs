//! The projection onto bounds and rows by a dual active-set method (Goldfarb and Idnani, 1983).
//!
//! With the multipliers λ of the active rows, a variable whose bounds are not active is at its target `x − H⁻¹Aᵀλ`. The
//! method goes through points that are optimal for the active constraints alone: each multiplier has its sign, and a
//! bound is active only where the target is beyond it. It takes the farthest broken constraint in by raising its
//! multiplier, and drops what loses its sign on the way. The distance grows with each step, so that no active set comes
//! twice. An active bound takes its variable out of the linear algebra; the rest is in [`Frame`].

use super::frame::Frame;
use super::region::{Place, Region};

/// The method did not get through: X is empty, or rounding got in the way. Which of the two is for others to prove.
#[derive(Debug)]
pub(super) struct Lost;

/// Rounds in which all broken constraints are taken in at once, before one at a time is sure to end. On a box of 1000
/// variables with 100 rows a handful of such rounds does what takes a thousand steps; in a very uneven metric they may
/// go around in circles.
const BATCHES: usize = 20;

/// The active constraints, kept from projection to projection to start from.
#[derive(Debug)]
pub(super) struct ActiveSet {
    /// +1 where the upper bound is active, −1 where the lower one is, 0 where the variable is free.
    held: Vec<f64>,
    rows: Vec<Row>,
    /// Where each variable would be without its bounds.
    target: Vec<f64>,
    frame: Frame,
    /// Of which rows the frame is, and which variables were held when it was built.
    framed: Vec<usize>,
    held_in_frame: Vec<bool>,
    /// One number per active row: a right-hand side, then a solution.
    reaction: Vec<f64>,
    /// How fast the gradient of the Lagrangian moves with the multiplier that is raised.
    pull: Vec<f64>,
    /// How fast the point moves.
    course: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    index: usize,
    sign: f64,
    multiplier: f64,
}

/// What stops a multiplier from being raised further.
enum Block {
    Row(usize),
    Bound(usize),
}

impl ActiveSet {
    pub(super) fn new(dim: usize) -> Self {
        Self {
            held: vec![0.0; dim],
            rows: Vec::new(),
            target: vec![0.0; dim],
            frame: Frame::new(dim),
            framed: Vec::new(),
            held_in_frame: vec![false; dim],
            reaction: Vec::new(),
            pull: vec![0.0; dim],
            course: vec![0.0; dim],
        }
    }

    /// Writes the projection into v. It starts from what was active the last time, and if that leads nowhere, from the
    /// bounds that x breaks.
    pub(super) fn project(&mut self, region: &Region, x: &[f64], ease: &[f64], v: &mut [f64]) -> Result<(), Lost> {
        self.walk(region, x, ease, v).or_else(|Lost| {
            self.rows.clear();
            for (j, held) in self.held.iter_mut().enumerate() {
                let (lower, upper) = region.bounds(j);
                *held = f64::from(x[j] > upper) - f64::from(x[j] < lower);
            }
            self.walk(region, x, ease, v)
        })
    }

    fn walk(&mut self, region: &Region, x: &[f64], ease: &[f64], v: &mut [f64]) -> Result<(), Lost> {
        for (j, held) in self.held.iter_mut().enumerate() {
            let (lower, upper) = region.bounds(j);
            if lower == upper {
                *held = 1.0;
            }
        }
        self.settle(region, x, ease, v)?;
        for _ in 0..BATCHES {
            if !self.take_all(region, v) {
                break;
            }
            self.settle(region, x, ease, v)?;
        }
        for _ in 0..100 + 10 * (x.len() + region.rows()) {
            let Some(place) = region.worst(v, ease) else {
                for (j, v) in v.iter_mut().enumerate() {
                    *v = region.clamp(j, *v);
                }
                return Ok(());
            };
            self.take_in(place, region, ease, v)?;
            self.settle(region, x, ease, v)?;
        }
        Err(Lost)
    }

    /// The optimum for the active constraints alone, dropping those whose multiplier has the wrong sign: what is left
    /// is a point to go on from.
    fn settle(&mut self, region: &Region, x: &[f64], ease: &[f64], v: &mut [f64]) -> Result<(), Lost> {
        loop {
            self.build_frame(region, ease);
            for (j, v) in v.iter_mut().enumerate() {
                let (lower, upper) = region.bounds(j);
                *v = match self.held[j] {
                    0.0 => x[j],
                    held if held > 0.0 => upper,
                    _ => lower,
                };
            }
            self.rows.iter_mut().for_each(|row| row.multiplier = 0.0);
            // The second round takes away what rounding left of the first.
            for _ in 0..2 {
                self.reaction.clear();
                self.reaction.extend(
                    self.rows.iter().map(|row| region.activity(row.index, v) - region.side(row.index, row.sign)),
                );
                self.frame.shortest(&mut self.reaction, &mut self.course);
                for (j, v) in v.iter_mut().enumerate() {
                    *v -= self.course[j] * ease[j].sqrt();
                }
                self.rows.iter_mut().zip(&self.reaction).for_each(|(row, change)| row.multiplier += change);
            }
            self.aim(region, x, ease);
            if !self.drop_wrong(region) {
                return if v.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(Lost) };
            }
        }
    }

    /// Forgets the frame: normals are of another length from now on.
    pub(super) fn measure_anew(&mut self) {
        self.framed.clear();
    }

    /// The frame of the active rows, less those whose normals are combinations of others. As long as the rows are those
    /// of the last frame, and none of their variables has come to a bound or left it, so are the normals: with a
    /// hundred active rows nearly all of the time would go into making them again.
    fn build_frame(&mut self, region: &Region, ease: &[f64]) {
        let Self { held, rows, frame, framed, held_in_frame, .. } = self;
        let is_same = |&(row, framed): &(&Row, &usize)| {
            row.index == *framed && region.terms(row.index).all(|(j, _)| held_in_frame[j] == (held[j] != 0.0))
        };
        let kept = rows.iter().zip(framed.iter()).take_while(is_same).count().min(frame.size());
        frame.truncate(kept);
        framed.truncate(kept);
        held_in_frame.iter_mut().zip(&*held).for_each(|(framed, held)| *framed = *held != 0.0);
        let mut place = 0;
        rows.retain(|row| {
            place += 1;
            if place <= kept {
                return true;
            }
            let normal = frame.next();
            for (j, value) in region.terms(row.index) {
                if held[j] == 0.0 {
                    normal[j] += value * ease[j].sqrt();
                }
            }
            let is_new = frame.extend();
            if is_new {
                framed.push(row.index);
            }
            is_new
        });
    }

    /// The targets that the multipliers make.
    fn aim(&mut self, region: &Region, x: &[f64], ease: &[f64]) {
        self.target.fill(0.0);
        for row in &self.rows {
            for (j, value) in region.terms(row.index) {
                self.target[j] += row.multiplier * value;
            }
        }
        for (j, target) in self.target.iter_mut().enumerate() {
            *target = x[j] - ease[j] * *target;
        }
    }

    fn drop_wrong(&mut self, region: &Region) -> bool {
        let before = self.rows.len();
        self.rows.retain(|row| {
            let (lower, upper) = region.sides(row.index);
            lower == upper || row.sign * row.multiplier >= 0.0
        });
        let mut dropped = self.rows.len() < before;
        for (j, held) in self.held.iter_mut().enumerate() {
            let (lower, upper) = region.bounds(j);
            if lower < upper && (*held > 0.0 && self.target[j] < upper || *held < 0.0 && self.target[j] > lower) {
                *held = 0.0;
                dropped = true;
            }
        }
        dropped
    }

    /// Makes every broken constraint active at once.
    fn take_all(&mut self, region: &Region, v: &[f64]) -> bool {
        let Self { held, rows, .. } = self;
        let mut any = false;
        region.each_broken(v, |place, _| {
            any = true;
            match place {
                Place::Row(index, sign) => rows.push(Row { index, sign, multiplier: 0.0 }),
                Place::Bound(j, sign) => held[j] = sign,
            }
        });
        any
    }

    /// Makes a broken constraint active.
    fn take_in(&mut self, place: Place, region: &Region, ease: &[f64], v: &mut [f64]) -> Result<(), Lost> {
        for _ in 0..=self.held.len() + self.rows.len() {
            let fall = self.react(place, region, ease);
            let full = if fall > 0.0 { region.miss(place, v).max(0.0) / fall } else { f64::INFINITY };
            let (least, block) = self.first_block(region, ease);
            let step = full.min(least);
            if !step.is_finite() {
                return Err(Lost);
            }
            for (j, v) in v.iter_mut().enumerate() {
                *v -= step * self.course[j] * ease[j].sqrt();
                self.target[j] -= step * self.pull[j] * ease[j];
            }
            self.rows.iter_mut().zip(&self.reaction).for_each(|(row, reaction)| row.multiplier -= step * reaction);
            match (block, place) {
                (Some(Block::Row(k)), _) if least < full => {
                    self.rows.remove(k);
                }
                (Some(Block::Bound(j)), _) if least < full => self.held[j] = 0.0,
                // Its multiplier is found when the set settles.
                (_, Place::Row(index, sign)) => {
                    self.rows.push(Row { index, sign, multiplier: 0.0 });
                    return Ok(());
                }
                (_, Place::Bound(j, sign)) => {
                    self.held[j] = sign;
                    return Ok(());
                }
            }
            self.build_frame(region, ease);
        }
        Err(Lost)
    }

    /// How everything moves when the multiplier of a constraint is raised. Gives how fast its miss falls: 0 if its
    /// normal is a combination of the active ones, so that the point cannot move.
    fn react(&mut self, place: Place, region: &Region, ease: &[f64]) -> f64 {
        self.pull.fill(0.0);
        match place {
            Place::Row(row, sign) => region.terms(row).for_each(|(j, value)| self.pull[j] += sign * value),
            Place::Bound(j, sign) => self.pull[j] = sign,
        }
        let normal = self.frame.next();
        for (j, &pull) in self.pull.iter().enumerate() {
            if self.held[j] == 0.0 {
                normal[j] = pull * ease[j].sqrt();
            }
        }
        let fall = self.frame.split(&mut self.reaction, &mut self.course);
        // A bound's own multiplier holds its variable back and does not move the target.
        if let Place::Bound(j, _) = place {
            self.pull[j] = 0.0;
        }
        for (row, reaction) in self.rows.iter().zip(&self.reaction) {
            region.terms(row.index).for_each(|(j, value)| self.pull[j] -= reaction * value);
        }
        fall
    }

    /// How far the new multiplier can be raised until an active constraint loses the sign of its own, and which one.
    fn first_block(&self, region: &Region, ease: &[f64]) -> (f64, Option<Block>) {
        let mut least = f64::INFINITY;
        let mut block = None;
        for (k, row) in self.rows.iter().enumerate() {
            let (lower, upper) = region.sides(row.index);
            if lower < upper && row.sign * self.reaction[k] > 0.0 {
                let step = row.multiplier / self.reaction[k];
                if step < least {
                    (least, block) = (step, Some(Block::Row(k)));
                }
            }
        }
        for (j, &held) in self.held.iter().enumerate() {
            let (lower, upper) = region.bounds(j);
            if lower < upper && held * self.pull[j] > 0.0 {
                let bound = if held > 0.0 { upper } else { lower };
                let step = (self.target[j] - bound) / (ease[j] * self.pull[j]);
                if step < least {
                    (least, block) = (step, Some(Block::Bound(j)));
                }
            }
        }
        (least.max(0.0), block)
    }
}
